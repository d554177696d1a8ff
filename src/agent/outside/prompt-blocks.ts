import type { AgentEntry } from '../../core/agent/history.ts'
import { saidIn } from '../../core/agent/output.ts'
import { type PromptSource, textOf, userParts } from '../../core/agent/prompt.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { UserPart } from '../../core/model/prompt.ts'

interface PromptText {
  readonly entries: readonly AgentEntry[]
  readonly partsAt: PromptSource['partsAt']
  /** Only entries behind `after` and up to `told` are new to the program. */
  readonly after: number
  readonly told: number
  readonly can: readonly string[]
  readonly system: string | null
  /** The program knows nothing of the session. */
  readonly isFirst: boolean
}

/** A program that lost its session is told the end of it. */
const MAX_TOLD_CHARS = 16_000
const GO_ON = 'Go on.'

/** The content of a prompt: the inputs and notices that the program was not told yet. */
export function promptBlocks(text: PromptText): readonly JsonObject[] {
  const { entries, partsAt, after, told, can, system, isFirst } = text
  const fresh = entries.filter(({ seq }) => seq > after && seq <= told)
  // Of a session that goes on elsewhere, the last input is new as well.
  const begun = isFirst ? entries.findLastIndex(({ type }) => type === 'turn_begun') : -1
  const news = isFirst ? entries.slice(begun + 1).filter(({ seq }) => seq <= told) : fresh
  const blocks = news.flatMap((entry) => blocksOf(entry, partsAt, can))
  const before = isFirst && begun > 0 ? historyText(entries.slice(0, begun), partsAt) : ''
  return [
    ...(isFirst && system !== null ? [textBlock(system)] : []),
    ...(before === '' ? [] : [textBlock(`What was said in this session before:\n${before}`)]),
    ...(blocks.length === 0 ? [textBlock(GO_ON)] : blocks),
  ]
}

function blocksOf(
  entry: AgentEntry,
  partsAt: PromptSource['partsAt'],
  can: readonly string[],
): readonly JsonObject[] {
  switch (entry.type) {
    case 'input_promoted':
      return userParts(partsAt(entry.payload.seq)).map((part) => blockOf(part, can))
    case 'notices_promoted': {
      const { seqs, more } = entry.payload
      const texts = seqs.map((seq) => textOf(partsAt(seq)))
      return [textBlock([...texts, ...(more > 0 ? [`(${more} more notices)`] : [])].join('\n'))]
    }
    case 'system_item':
      return entry.payload.kind === 'context' ? [] : [textBlock(textOf(entry.payload.parts))]
    default:
      return []
  }
}

function blockOf(part: UserPart, can: readonly string[]): JsonObject {
  switch (part.type) {
    case 'text':
      return textBlock(part.text)
    case 'image':
      return can.includes('image')
        ? { type: 'image', mimeType: part.mediaType, data: part.data }
        : textBlock('(An image, which this agent does not take.)')
    case 'file': {
      const { name = 'file', mediaType, data } = part
      return can.includes('context')
        ? {
            type: 'resource',
            resource: { uri: `file:///${encodeURIComponent(name)}`, mimeType: mediaType, blob: data },
          }
        : textBlock(`(The file ${name}, which this agent does not take.)`)
    }
  }
}

function textBlock(text: string): JsonObject {
  return { type: 'text', text }
}

/** The end of the session, as texts. */
function historyText(entries: readonly AgentEntry[], partsAt: PromptSource['partsAt']): string {
  const lines = entries.flatMap((entry) => {
    if (entry.type === 'input_promoted') return [`User: ${textOf(partsAt(entry.payload.seq))}`]
    if (entry.type !== 'assistant_item') return []
    const said = saidIn(entry.payload.parts)
    return said === '' ? [] : [`You: ${said}`]
  })
  const text = lines.join('\n')
  return text.length <= MAX_TOLD_CHARS ? text : `…${text.slice(-MAX_TOLD_CHARS).toWellFormed()}`
}
