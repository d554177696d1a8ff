import type { JsonObject } from '../../json/json.ts'
import { continuationText } from '../earlier-logs.ts'
import type { LogItem } from '../log-view.ts'
import { putBackLines, rewoundText } from '../rewound-text.ts'
import type { Part } from '../state.ts'
import { partsText, partText } from './part-text.ts'

/** An item of a session log as Markdown, with an empty line behind it; empty if a reader needs nothing of it. */
export function itemMarkdown(item: LogItem): string {
  const text = markdownOf(item)
  return text === '' ? '' : `${text}\n\n`
}

function markdownOf(item: LogItem): string {
  switch (item.type) {
    case 'turn_begun':
      return `## Turn ${item.payload.turn}`
    case 'input_promoted':
      return `**Input**\n\n${partsText(item.payload.parts)}`
    case 'notices_promoted': {
      const { more } = item.payload
      return `**Notices**\n\n${partsText(item.payload.parts)}${more === 0 ? '' : `\n\n(and ${more} more)`}`
    }
    case 'assistant_item':
      return item.payload.parts.map(answerPart).filter(Boolean).join('\n\n')
    case 'tool_called':
      return `**Tool call** ${code(item.payload.tool)}\n\n${fenced(inputOf(item.payload.parts), 'json')}`
    case 'tool_answered': {
      const { isError, interrupted, parts } = item.payload
      const how = interrupted === true ? ' (interrupted)' : isError ? ' (error)' : ''
      return `**Tool result**${how}\n\n${fenced(partsText(parts))}`
    }
    case 'system_item':
      return `**Note** (${item.payload.kind})\n\n${quoted(partsText(item.payload.parts))}`
    case 'segment_begun':
      return item.payload.why === 'compaction'
        ? `**Summary of the session so far**\n\n${quoted(partsText(item.payload.parts))}`
        : ''
    case 'model_call_cut':
      return `*The model call was cut: ${item.payload.why}.*`
    case 'agent_configured':
      return `*The model is ${configured(item.payload)} from here on.*`
    case 'session_continued':
      return `*The session ${continuationText(item.payload)}.*`
    case 'session_rewound':
      return `*${rewoundText(item.payload)}*`
    case 'files_put_back':
      return putBackLines(item.payload)
        .map((line) => `*${line}*`)
        .join('\n\n')
    case 'agent_alerted':
      return `*Alert (${item.payload.alert}): ${item.payload.message}*`
    case 'agent_failed':
      return `*Error (${item.payload.code}): ${item.payload.message}*`
    case 'turn_ended': {
      const { turn, reason, message } = item.payload
      return `*Turn ${turn} ended: ${reason}.${message === undefined ? '' : ` ${message}`}*`
    }
    default:
      return ''
  }
}

function configured({ model, effort }: { readonly model: string; readonly effort?: string }): string {
  return effort === undefined ? model : `${model}, with the effort ${effort},`
}

function answerPart(part: Part): string {
  if (part.type === 'reasoning') return quoted(partText(part) ?? '')
  return partText(part) ?? ''
}

function inputOf(parts: readonly Part[]): string {
  const call = parts.find(({ type }) => type === 'tool_call')
  return call === undefined ? partsText(parts) : JSON.stringify((call['input'] ?? {}) as JsonObject, null, 2)
}

function quoted(text: string): string {
  return text === '' ? '' : text.replace(/^/gm, '> ')
}

function code(text: string): string {
  return `\`${text.replaceAll('`', "'")}\``
}

/** The fence is longer than any in the text, so that no text ends it. */
function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}\n${fence}`
}
