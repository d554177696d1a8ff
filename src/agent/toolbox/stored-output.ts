import { hash } from 'node:crypto'
import type { Part } from '../../core/agent/state.ts'
import { MAX_BLOB_BYTES } from '../../core/blob/blob.ts'
import type { FileWrite } from '../../core/files/file-write.ts'
import { asJson, type JsonObject } from '../../core/json/json.ts'
import type { Pid } from '../../core/process/pid.ts'
import { spill } from '../../core/tool/spill.ts'
import type { Edges } from '../../kernel/edges.ts'
import { storeParts } from '../parts/stored-parts.ts'
import type { ToolOutput } from '../tools/agent-tool.ts'

/** More text than a blob holds is cut: the tool floods. */
const MAX_TEXT_CHARS = MAX_BLOB_BYTES / 4

export interface StoringParts {
  readonly store: Edges['store']
  readonly mask: (text: string) => string
}

/**
 * The result of a call as its process ends with it: masked, and small enough for an event. The whole of a long text is a blob that
 * `read_result` pages through; prompts have the excerpt alone. Large parts, such as pictures, are blobs that prompts load.
 */
export async function storedOutput(
  { store, mask }: StoringParts,
  pid: Pid,
  { parts: given, changes, ...facts }: ToolOutput,
  isBounded: boolean,
): Promise<JsonObject> {
  const texts = given.filter((part) => part.type === 'text').map(({ text }) => text)
  const images = given.filter((part) => part.type === 'image')
  const text = mask(cut(texts.join('\n')))
  const shown = isBounded ? text : shownText(text, pid)
  const excerpt: readonly Part[] = shown === '' && images.length > 0 ? [] : [{ type: 'text', text: shown }]
  const { parts, blobs } = storeParts([...excerpt, ...images])
  for (const { hash, bytes } of blobs) await store.blobs.put(hash, bytes)
  const rest = shown === text ? [] : [await putText(store, text)]
  const written = changes === undefined ? {} : { changes: await keptChanges(store, changes) }
  return { parts: [...parts, ...rest], ...asJson({ ...facts, ...written }) }
}

/** Larger contents are not kept: such files are generated, and each version would be stored. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024

/** The changes of files, with their contents before as blobs: so they can be undone. */
async function keptChanges(
  { blobs }: StoringParts['store'],
  changes: NonNullable<ToolOutput['changes']>,
): Promise<readonly FileWrite[]> {
  const written: FileWrite[] = []
  for (const { path, before, after, was } of changes) {
    const keeps = before !== null && was !== null && was.length <= MAX_KEPT_BYTES
    if (keeps) await blobs.put(before, was)
    written.push({ path, before, after, ...(keeps ? { kept: true } : {}) })
  }
  return written
}

/** The excerpt of a long text for prompts, and how the agent reads the rest. */
export function shownText(text: string, pid: Pid): string {
  return spill(text, `read_result {"call":"${pid}"}`).text
}

/** The hash of the whole text of a result, if the result shows its end only. */
export function wholeTextOf(parts: readonly Part[]): string | null {
  const whole = parts.find(({ type, mediaType }) => type === 'blob' && mediaType === WHOLE_TEXT)
  return typeof whole?.['hash'] === 'string' ? whole['hash'] : null
}

const WHOLE_TEXT = 'text/plain'

async function putText(store: Edges['store'], text: string): Promise<Part> {
  const bytes = Buffer.from(text)
  const digest = hash('sha256', bytes, 'hex')
  await store.blobs.put(digest, bytes)
  return { type: 'blob', hash: digest, bytes: bytes.length, mediaType: WHOLE_TEXT }
}

function cut(text: string): string {
  return text.length <= MAX_TEXT_CHARS
    ? text
    : `${text.slice(0, MAX_TEXT_CHARS).toWellFormed()}\n(cut off after ${MAX_TEXT_CHARS} characters)`
}
