/**
 * The words of the response stream: for each message of `warp.multi_agent.v1` its type and its schema (`Task` and
 * `TaskSchema`), for each enum both in one, and the two options that a field can be marked with. Everything is generated
 * from the `.proto` files beside this one; `create`, `fromBinary`, `toBinary` and `toJson` of `@bufbuild/protobuf` take the
 * schemas.
 */
import type { DescFile } from '@bufbuild/protobuf';
import { file_warp_multi_agent_v1_attachment } from './gen/warp/multi_agent/v1/attachment_pb.js';
import { file_warp_multi_agent_v1_citation } from './gen/warp/multi_agent/v1/citation_pb.js';
import { file_warp_multi_agent_v1_client_action } from './gen/warp/multi_agent/v1/client_action_pb.js';
import { file_warp_multi_agent_v1_drive_object } from './gen/warp/multi_agent/v1/drive_object_pb.js';
import { file_warp_multi_agent_v1_file_content } from './gen/warp/multi_agent/v1/file_content_pb.js';
import { file_warp_multi_agent_v1_file_result } from './gen/warp/multi_agent/v1/file_result_pb.js';
import { file_warp_multi_agent_v1_input_context } from './gen/warp/multi_agent/v1/input_context_pb.js';
import { file_warp_multi_agent_v1_mcp } from './gen/warp/multi_agent/v1/mcp_pb.js';
import { file_warp_multi_agent_v1_options } from './gen/warp/multi_agent/v1/options_pb.js';
import { file_warp_multi_agent_v1_proposal_result } from './gen/warp/multi_agent/v1/proposal_result_pb.js';
import { file_warp_multi_agent_v1_response_event } from './gen/warp/multi_agent/v1/response_event_pb.js';
import { file_warp_multi_agent_v1_search_result } from './gen/warp/multi_agent/v1/search_result_pb.js';
import { file_warp_multi_agent_v1_shell_command } from './gen/warp/multi_agent/v1/shell_command_pb.js';
import { file_warp_multi_agent_v1_suggestion } from './gen/warp/multi_agent/v1/suggestion_pb.js';
import { file_warp_multi_agent_v1_task } from './gen/warp/multi_agent/v1/task_pb.js';
import { file_warp_multi_agent_v1_task_status } from './gen/warp/multi_agent/v1/task_status_pb.js';
import { file_warp_multi_agent_v1_todo } from './gen/warp/multi_agent/v1/todo_pb.js';
import { file_warp_multi_agent_v1_tool_type } from './gen/warp/multi_agent/v1/tool_type_pb.js';

export * from './gen/warp/multi_agent/v1/attachment_pb.js';
export * from './gen/warp/multi_agent/v1/citation_pb.js';
export * from './gen/warp/multi_agent/v1/client_action_pb.js';
export * from './gen/warp/multi_agent/v1/drive_object_pb.js';
export * from './gen/warp/multi_agent/v1/file_content_pb.js';
export * from './gen/warp/multi_agent/v1/file_result_pb.js';
export * from './gen/warp/multi_agent/v1/input_context_pb.js';
export * from './gen/warp/multi_agent/v1/mcp_pb.js';
export * from './gen/warp/multi_agent/v1/options_pb.js';
export * from './gen/warp/multi_agent/v1/proposal_result_pb.js';
export * from './gen/warp/multi_agent/v1/response_event_pb.js';
export * from './gen/warp/multi_agent/v1/search_result_pb.js';
export * from './gen/warp/multi_agent/v1/shell_command_pb.js';
export * from './gen/warp/multi_agent/v1/suggestion_pb.js';
export * from './gen/warp/multi_agent/v1/task_pb.js';
export * from './gen/warp/multi_agent/v1/task_status_pb.js';
export * from './gen/warp/multi_agent/v1/todo_pb.js';
export * from './gen/warp/multi_agent/v1/tool_type_pb.js';

/**
 * The descriptors of all files of `warp.multi_agent.v1`, by name: what a host hands to `createRegistry` of
 * `@bufbuild/protobuf`, to find messages by their names, or walks, to see which fields are marked `sensitive`.
 */
export const fileDescriptors: readonly DescFile[] = [
  file_warp_multi_agent_v1_attachment,
  file_warp_multi_agent_v1_citation,
  file_warp_multi_agent_v1_client_action,
  file_warp_multi_agent_v1_drive_object,
  file_warp_multi_agent_v1_file_content,
  file_warp_multi_agent_v1_file_result,
  file_warp_multi_agent_v1_input_context,
  file_warp_multi_agent_v1_mcp,
  file_warp_multi_agent_v1_options,
  file_warp_multi_agent_v1_proposal_result,
  file_warp_multi_agent_v1_response_event,
  file_warp_multi_agent_v1_search_result,
  file_warp_multi_agent_v1_shell_command,
  file_warp_multi_agent_v1_suggestion,
  file_warp_multi_agent_v1_task,
  file_warp_multi_agent_v1_task_status,
  file_warp_multi_agent_v1_todo,
  file_warp_multi_agent_v1_tool_type,
];
