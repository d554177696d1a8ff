import type { Outcome } from '../../core/process/record.ts'
import type { OutputPiece } from '../../verbs/attachment.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { Incoming, KeptIncoming } from './incoming.ts'
import { LineSplitter, type SplitLine } from './line-splitter.ts'
import { rpcMessages } from './rpc-message.ts'

/** The longest message of a program. */
export const MAX_MESSAGE_BYTES = 20 * 1024 * 1024
const MAX_EXCERPT_CHARS = 200

export type LogReader = Pick<ReeveVerbs, 'followOutput' | 'outputStreams' | 'log'>

/** The output of a kept program from an offset on, then new output as it comes. The end of the program is the last item. */
export async function* keptMessages(
  verbs: LogReader,
  pid: string,
  offset: number,
  signal: AbortSignal,
): AsyncGenerator<KeptIncoming> {
  const lines = new LineSplitter(MAX_MESSAGE_BYTES)
  for await (const piece of verbs.followOutput({ pid, offset }, { signal })) {
    if (piece.gap !== null) {
      lines.clear()
      const why = `${piece.gap.to - piece.gap.from} bytes of its output are not kept`
      yield { incoming: { type: 'lost', why }, end: piece.gap.to }
    }
    if (piece.outcome !== undefined) {
      const why = await endOf(verbs, pid, piece.outcome)
      yield { incoming: { type: 'ended', why }, end: piece.offset + piece.bytes.length }
      return
    }
    for (const { at, bytes } of await stdoutOf(verbs, pid, piece))
      for (const line of lines.push(bytes))
        for (const incoming of incomingIn(line)) yield { incoming, end: at + line.end }
  }
}

function incomingIn(line: SplitLine): readonly Incoming[] {
  return line.type === 'line' ? messagesIn(line.text) : [{ type: 'too_long', excerpt: line.excerpt }]
}

/** The messages in one piece of the output. */
export async function messagesOf(
  verbs: LogReader,
  pid: string,
  piece: Pick<OutputPiece, 'offset' | 'bytes'>,
): Promise<readonly Extract<Incoming, { readonly type: 'message' }>[]> {
  const lines = new LineSplitter(MAX_MESSAGE_BYTES)
  const split = (await stdoutOf(verbs, pid, piece)).flatMap(({ bytes }) => [...lines.push(bytes)])
  return split
    .flatMap((line) => (line.type === 'line' ? messagesIn(line.text) : []))
    .filter((incoming) => incoming.type === 'message')
}

function messagesIn(text: string): readonly Incoming[] {
  const trimmed = text.trim()
  if (trimmed === '') return []
  const messages = rpcMessages(jsonIn(trimmed))
  if (messages.length === 0) return [{ type: 'garbage', text: trimmed.slice(0, MAX_EXCERPT_CHARS) }]
  return messages.map((message) => ({ type: 'message', message }))
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The bytes of a piece that are standard output: standard error is for people. */
async function stdoutOf(
  verbs: LogReader,
  pid: string,
  piece: Pick<OutputPiece, 'offset' | 'bytes'>,
): Promise<readonly { readonly at: number; readonly bytes: Uint8Array }[]> {
  const { offset, bytes } = piece
  if (bytes.length === 0) return []
  const end = offset + bytes.length
  const { parts } = await verbs.outputStreams({ pid, from: offset, to: end })
  if (parts.length === 0) return [{ at: offset, bytes }]
  return parts.flatMap((part, index) => {
    if (part.stream !== 'stdout') return []
    const from = Math.max(0, part.offset - offset)
    const to = Math.min(end, parts[index + 1]?.offset ?? end) - offset
    return from < to ? [{ at: offset + from, bytes: bytes.subarray(from, to) }] : []
  })
}

const STDERR_LINES = 5

async function endOf(verbs: LogReader, pid: string, outcome: Outcome): Promise<string> {
  const how =
    outcome.exitCode !== null
      ? `exit code ${outcome.exitCode}`
      : (outcome.signal ?? outcome.reason ?? outcome.status)
  const last = await lastErrors(verbs, pid)
  return `it ended (${how})${last === '' ? '' : `; its last lines on standard error: ${last}`}`
}

async function lastErrors(verbs: LogReader, pid: string): Promise<string> {
  try {
    const { lines } = await verbs.log({ pid, stream: 'stderr', limit: STDERR_LINES })
    return lines.map(({ text }) => text.slice(0, MAX_EXCERPT_CHARS)).join(' | ')
  } catch {
    // The log of a command that never began, or that is gone, adds nothing to its outcome.
    return ''
  }
}
