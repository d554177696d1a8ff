import { type JsonObject, objectOf } from '../json/json.ts'
import type { UserPart } from '../model/prompt.ts'
import type { Part } from './state.ts'

/** One piece of an input, as a caller gives it. References and commands are resolved before anything is admitted. */
export type InputPart = UserPart | PastePart | FileReference | CommandPart

/** Text that was pasted, and not typed: views may fold it. */
interface PastePart {
  readonly type: 'paste'
  readonly text: string
  readonly name?: string
}

/** A file of the workspace. The model gets its content as it is now. */
export interface FileReference {
  readonly type: 'reference'
  readonly path: string
  /** Lines from 1, both included. */
  readonly from?: number
  readonly to?: number
}

/** A slash command. */
export interface CommandPart {
  readonly type: 'command'
  readonly name: string
  readonly arguments?: string
}

/** A file that an input referred to, as it was then. */
export interface ReferencedFile {
  /** For the model: relative to the workspace if it is inside. */
  readonly path: string
  /** Canonical. */
  readonly file: string
  /** Of the whole content. */
  readonly hash: string
  readonly bytes: number
  readonly content: UserPart
}

/** The admitted parts of a reference: the file, and its content. `given` recognises a repetition of the same request. */
export function referenceParts(
  { type: _, ...given }: FileReference,
  { path, file, hash, bytes, content }: ReferencedFile,
): readonly Part[] {
  return [{ type: 'reference', path, file, hash, bytes, given }, { ...content }]
}

/** The admitted parts of a slash command: the command, and what it stands for. */
export function commandParts(given: JsonObject, content: readonly UserPart[]): readonly Part[] {
  return [{ type: 'command', given, parts: content.length }, ...content.map((part) => ({ ...part }))]
}

/** How many parts behind this one it stands for. */
export function partCountOf(command: Part | undefined): number {
  const count = command?.['parts']
  return typeof count === 'number' ? count : 0
}

/** A slash command as it was typed; null if the part is no command. */
export function commandText({ type, given }: Part): string | null {
  if (type !== 'command') return null
  const { name, arguments: text } = objectOf(given)
  return `/${String(name)}${typeof text === 'string' ? ` ${text}` : ''}`
}

/** The file that an admitted part refers to; null if it is no reference. */
export function fileOfPart(part: Part): { readonly path: string; readonly hash: string } | null {
  const { type, file: path, hash } = part
  if (type !== 'reference' || typeof path !== 'string' || typeof hash !== 'string') return null
  return { path, hash }
}

/** What a model reads of a pasted text. */
export function pasteText(part: Part): string {
  const { name, text } = part
  return `Pasted text${typeof name === 'string' ? ` (${name})` : ''}:\n${String(text)}`
}
