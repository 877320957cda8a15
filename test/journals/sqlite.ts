/** Whether this Node has `node:sqlite`: from 22.13 on. */
export const hasSqlite: boolean = process.getBuiltinModule('node:sqlite') !== undefined;
