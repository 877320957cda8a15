/** UpdateTaskStatus, UpdateTaskDescription, UpdateTaskSummary: one field of a task is set. */
import { type Task, TaskSchema, type TaskStatus } from '../../../proto/index.js';
import { quoted } from '../diagnostics.js';
import { identical } from '../message/identical.js';
import { type Fields, planOf } from '../message/plan.js';
import { withValue } from '../message/replace.js';
import type { Tree } from '../tree.js';
import { Failed, type Outcome } from './outcome.js';

export function setTaskField(
  tree: Tree,
  taskId: string,
  field: 'status' | 'description' | 'summary',
  value: TaskStatus | string | undefined,
): Outcome {
  const place = tree.taskPlaceOf(taskId);
  if (place === undefined) return new Failed('unknown_task', `set ${field} of task ${quoted(taskId)}`);
  const { task } = tree.taskAt(place);
  if (identical(task[field], value)) return tree;
  return tree.withTaskFields(
    place,
    withValue(planOf(TaskSchema), task as unknown as Fields, field, value) as unknown as Task,
  );
}
