export { type ConnectOptions, connect } from './client/connect.ts'
export type { CommandsOptions } from './command/commands.ts'
export type { Environment } from './core/environment/environment.ts'
export { type ErrorCode, ReeveError, RefusedError, StoreError } from './core/errors.ts'
export type { Json, JsonObject } from './core/json/json.ts'
export type { ReservedEvent, StoredEvent } from './core/process/event.ts'
export type { Pid } from './core/process/pid.ts'
export type {
  Actor,
  EventType,
  Evidence,
  Kind,
  Lifetime,
  Outcome,
  Owner,
  ProcessRecord,
  Program,
  Recovery,
} from './core/process/record.ts'
export type { EndStatus, LiveStatus, Status } from './core/process/status.ts'
export { type Embedded, type EmbedOptions, embed } from './embed/embed.ts'
export type { Durability, Store } from './store/contract.ts'
export type { ChildRequest, SignalAnswer, ToolContext, ToolHandler } from './tool/in-process.ts'
export type {
  Acting,
  Attachment,
  CallOptions,
  InputOf,
  OutputOf,
  OutputPiece,
  Reeve,
  VerbName,
} from './verbs/reeve.ts'
export type { CommandSpec } from './verbs/shapes/command-spec.ts'
