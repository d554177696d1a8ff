import type { OutputOf } from '../verbs/reeve.ts'
import { cut } from './page.ts'

type LogItem = OutputOf<'agentLog'>['items'][number]
type Parts = readonly { readonly type: string; readonly [member: string]: unknown }[]
type Listed = OutputOf<'agents'>['agents'][number]

/** The longest line of one item: a model pages through the log for more. */
const MAX_LINE_CHARS = 1_000

/** An item of a session log as a model reads it; empty if it says nothing to a reader. */
export function itemLine(item: LogItem): string {
  const line = lineOf(item)
  return line === '' ? '' : cut(line, MAX_LINE_CHARS)
}

function lineOf(item: LogItem): string {
  switch (item.type) {
    case 'turn_begun':
      return `-- turn ${item.payload.turn} --`
    case 'input_promoted':
      return `input: ${textIn(item.payload.parts)}`
    case 'notices_promoted':
      return `notices: ${textIn(item.payload.parts)}`
    case 'assistant_item':
      return `agent: ${textIn(item.payload.parts)}`
    case 'tool_called':
      return `calls ${item.payload.tool} ${inputIn(item.payload.parts)}`
    case 'tool_answered':
      return `${item.payload.isError ? 'error' : 'result'}: ${textIn(item.payload.parts)}`
    case 'agent_alerted':
    case 'agent_failed':
      return `alert: ${item.payload.message}`
    case 'turn_ended': {
      const { turn, reason, message } = item.payload
      return `-- turn ${turn} ended: ${reason}${message === undefined ? '' : `, ${message}`} --`
    }
    default:
      return ''
  }
}

function textIn(parts: Parts): string {
  return parts
    .map((part) => {
      if (part.type === 'text' || part.type === 'paste') return String(part['text'])
      if (part.type === 'reference') return `[file ${String(part['path'])}]`
      return part.type === 'reasoning' ? '' : `[${part.type}]`
    })
    .filter((text) => text !== '')
    .join('\n')
}

function inputIn(parts: Parts): string {
  const call = parts.find(({ type }) => type === 'tool_call')
  return call === undefined ? textIn(parts) : JSON.stringify(call['input'] ?? {})
}

/** One line about an agent. */
export function agentLine({
  pid,
  name,
  agent,
  phase,
  model,
  turns,
  queued,
  cost,
  workspace,
}: Listed): string {
  const called = name === null ? agent : `${agent} "${name}"`
  const waiting = queued === 0 ? '' : `, ${queued} inputs wait`
  const price = cost === null ? 'cost unknown' : `cost ${cost}`
  return `${pid} ${called}: ${phase}, turn ${turns}${waiting}, ${model}, ${price}${workspace === null ? '' : `, ${workspace}`}`
}
