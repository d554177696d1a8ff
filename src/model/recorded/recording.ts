import { createHash } from 'node:crypto'
import { appendFile, mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import * as z from 'zod'
import { codeOf, messageOf } from '../../base/error-text.ts'
import { canonical } from '../../core/json/canonical.ts'
import { asJson } from '../../core/json/json.ts'
import type { CallAnswer } from '../../core/model/answer.ts'
import type { ModelRequest } from '../../core/model/prompt.ts'
import { type ModelRefusal, modelRefusal } from '../../core/model/refusal.ts'
import type { Fragment } from '../model.ts'

/** The recording of one call. */
export interface RecordedCall {
  readonly fragments: readonly Fragment[]
  readonly answer: CallAnswer
}

const FORMAT = 'reeve-recording'
const header = z.strictObject({ format: z.literal(FORMAT), version: z.literal(1), model: z.string() })
const line = z.looseObject({
  request: z.string(),
  fragments: z.array(z.looseObject({ type: z.string() })),
  answer: z.looseObject({ type: z.string() }),
})

/**
 * The calls of a session, in a file of JSON lines: the model first, then each call by the hash of its request. Equal requests have several
 * calls if the first ones were cut. The file is only appended to. A last line without its end, after a crash, is ignored.
 */
export class Recording {
  readonly path: string
  /** The id of the model that was recorded. */
  readonly model: string | undefined
  readonly #calls: Map<string, RecordedCall[]>
  #needsLineEnd: boolean
  #written: Promise<unknown> = Promise.resolve()

  private constructor(path: string, content: Content) {
    this.path = path
    this.model = content.model
    this.#calls = content.calls
    this.#needsLineEnd = content.isTorn
  }

  static async open(path: string): Promise<Recording | ModelRefusal> {
    const text = await readFile(path, 'utf8').catch((error: unknown) =>
      codeOf(error) === 'ENOENT'
        ? ''
        : modelRefusal('script_invalid', `The recording ${path} cannot be read: ${messageOf(error)}`, REMEDY),
    )
    if (typeof text !== 'string') return text
    const content = contentOf(text)
    return typeof content === 'string'
      ? modelRefusal('script_invalid', `The recording ${path} cannot be used: ${content}`, REMEDY)
      : new Recording(path, content)
  }

  /** All calls with this request, the oldest first. */
  callsOf(request: ModelRequest): readonly RecordedCall[] {
    return this.#calls.get(hashOf(request)) ?? []
  }

  /** Resolves when the call is in the file. */
  add(request: ModelRequest, call: RecordedCall, model: string): Promise<void> {
    const isFirst = this.#calls.size === 0 && this.model === undefined
    const hash = hashOf(request)
    this.#calls.set(hash, [...(this.#calls.get(hash) ?? []), call])
    const torn = this.#needsLineEnd ? '\n' : ''
    const head = isFirst ? `${JSON.stringify({ format: FORMAT, version: 1, model })}\n` : ''
    this.#needsLineEnd = false
    const text = `${torn}${head}${JSON.stringify({ request: hash, ...call })}\n`
    const write = this.#written.then(async () => {
      await mkdir(dirname(this.path), { recursive: true })
      await appendFile(this.path, text, { mode: 0o600, flush: true })
    })
    this.#written = write.catch(() => {})
    return write
  }
}

const REMEDY = 'Delete the file, and record again with record/<file>@<provider>/<model>.'

interface Content {
  readonly model: string | undefined
  readonly calls: Map<string, RecordedCall[]>
  readonly isTorn: boolean
}

/** The content, or its error. */
function contentOf(text: string): Content | string {
  const calls = new Map<string, RecordedCall[]>()
  if (text === '') return { model: undefined, calls, isTorn: false }
  const lines = text.split('\n')
  const isTorn = lines.pop() !== ''
  const [first = '', ...rest] = lines
  const head = header.safeParse(parsed(first))
  if (!head.success) return 'its first line is not that of a recording.'
  for (const [index, one] of rest.entries()) {
    if (one === '') continue
    const call = line.safeParse(parsed(one))
    // A torn line was closed by the writer after it.
    if (!call.success) continue
    const { request, fragments, answer } = call.data
    if (!isAnswer(answer) || !fragments.every(isFragment)) return `line ${index + 2} is no call.`
    calls.set(request, [...(calls.get(request) ?? []), { fragments, answer }])
  }
  return { model: head.data.model, calls, isTorn }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Only Reeve writes these lines, so their type tells them. */
function isAnswer(value: { readonly type: string }): value is CallAnswer {
  return ['answered', 'cut', 'refused', 'overflow'].includes(value.type)
}

function isFragment(value: { readonly type: string }): value is Fragment {
  return ['begun', 'text', 'thinking', 'tool_arguments'].includes(value.type)
}

/** Without members that only serve caches and scripts: the same conversation is the same request. */
export function hashOf({ system, prompt, tools, settings = {} }: ModelRequest): string {
  const text = canonical(asJson({ system, prompt, tools, settings }))
  return createHash('sha256').update(text).digest('hex')
}
