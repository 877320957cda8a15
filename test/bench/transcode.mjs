/**
 * The fold that generic field-mask code makes: an append converts the whole
 * message and the patch to dynamic messages, walks the path, and converts the
 * result back. Found by its id at once, and nothing is checked: what it costs is
 * the converting.
 */
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import { MessageSchema } from 'commitpoint/proto';

/** @typedef {import('commitpoint/proto').ResponseEvent} ResponseEvent */
/** @typedef {import('commitpoint/proto').Message} Message */

export class TranscodingFold {
  /** @type {Map<string, Message>} */
  #messages = new Map();
  /** @type {Map<string, Message> | undefined} */
  #kept;

  /** @param {ResponseEvent} event */
  take({ type }) {
    if (type.case !== 'clientActions') return;
    for (const { action } of type.value.actions) {
      switch (action.case) {
        case 'addMessagesToTask':
          for (const message of action.value.messages) this.#messages.set(message.id, message);
          break;
        case 'appendToMessageContent':
          this.#append(action.value.message, action.value.mask?.paths ?? []);
          break;
        case 'beginTransaction':
          this.#kept = new Map(this.#messages);
          break;
        case 'rollbackTransaction':
          this.#messages = this.#kept ?? this.#messages;
          break;
      }
    }
  }

  /** @param {string} id */
  textOf(id) {
    const { message } = /** @type {Message} */ (this.#messages.get(id));
    return message.case === 'agentOutput' ? message.value.text : '';
  }

  /**
   * @param {Message | undefined} patch
   * @param {readonly string[]} paths
   */
  #append(patch, paths) {
    const stored = patch && this.#messages.get(patch.id);
    if (stored === undefined) return;
    const target = dynamic(stored);
    const source = dynamic(/** @type {Message} */ (patch));
    for (const path of paths) appendAt(target, source, path.split('.'));
    const changed = fromBinary(MessageSchema, toBinary(MessageSchema, /** @type {Message} */ (target.message)));
    this.#messages.set(changed.id, changed);
  }
}

/** @param {Message} message */
function dynamic(message) {
  return reflect(MessageSchema, fromBinary(MessageSchema, toBinary(MessageSchema, message)));
}

/**
 * @param {import('@bufbuild/protobuf/reflect').ReflectMessage} target
 * @param {import('@bufbuild/protobuf/reflect').ReflectMessage} source
 * @param {readonly string[]} names
 */
function appendAt(target, source, [name, ...rest]) {
  const field = target.desc.fields.find((each) => each.name === name);
  if (field === undefined) throw new TypeError(`no field is called ${name}`);
  if (rest.length === 0) target.set(field, `${target.get(field)}${source.get(field)}`);
  else if (field.fieldKind === 'message') {
    const inner = target.get(field);
    appendAt(inner, source.get(field), rest);
    target.set(field, inner);
  }
}
