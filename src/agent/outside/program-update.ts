import { isObject } from '../../base/is-object.ts'
import { type Json, type JsonObject, objectOf } from '../../core/json/json.ts'
import { MAX_PLAN_ITEM_CHARS, MAX_PLAN_ITEMS, type PlanList, planText } from '../../core/plan/plan-list.ts'

/** A report of a program, in the words of the session log. Undefined members were left out. */
export type ProgramUpdate =
  | { readonly type: 'text' | 'thinking'; readonly text: string }
  | ToolUpdate
  | { readonly type: 'plan'; readonly text: string }
  /** What its session has cost so far, in dollars. */
  | { readonly type: 'cost'; readonly dollars: number }
  | { readonly type: 'other' }

export interface ToolUpdate {
  readonly type: 'tool'
  readonly id: string
  /** It may begin the call; other updates are about one that has begun. */
  readonly begins: boolean
  /** It has not started: its input may be still streaming. */
  readonly isPending: boolean
  readonly tool: string | undefined
  readonly input: JsonObject
  readonly output: string | undefined
  readonly state: 'open' | 'completed' | 'failed'
}

const OTHER: ProgramUpdate = { type: 'other' }
/** What one call of a tool may add to the log. */
const MAX_OUTPUT_CHARS = 64 * 1024
const MAX_INPUT_CHARS = 64 * 1024
const MAX_TITLE_CHARS = 500
const MAX_ID_CHARS = 200

/** Kinds that are not known, and members that do not fit, are ignored: programs may be newer than this version. */
export function programUpdate(update: JsonObject): ProgramUpdate {
  switch (update['sessionUpdate']) {
    case 'agent_message_chunk':
      return { type: 'text', text: blockText(objectOf(update['content'])) }
    case 'agent_thought_chunk':
      return { type: 'thinking', text: blockText(objectOf(update['content'])) }
    case 'tool_call':
      return toolUpdate(update, true)
    case 'tool_call_update':
      return toolUpdate(update, false)
    case 'plan':
      return { type: 'plan', text: planText(planOf(update['entries'])) }
    case 'usage_update': {
      const { amount, currency } = objectOf(update['cost'])
      return typeof amount === 'number' && amount >= 0 && currency === 'USD'
        ? { type: 'cost', dollars: amount }
        : OTHER
    }
    default:
      return OTHER
  }
}

/** The call that a program tells about, in an update or in a request for a permission. */
export function toolUpdate(call: JsonObject, begins: boolean): ProgramUpdate {
  const { toolCallId, title, kind, rawInput, locations, status } = call
  if (typeof toolCallId !== 'string' || toolCallId === '') return OTHER
  const [location] = Array.isArray(locations) ? locations : []
  const { path } = objectOf(location)
  const raw = isObject(rawInput) && JSON.stringify(rawInput).length <= MAX_INPUT_CHARS ? rawInput : {}
  return {
    type: 'tool',
    id: toolCallId.slice(0, MAX_ID_CHARS),
    begins,
    isPending: status === 'pending',
    tool: typeof kind === 'string' && kind !== '' ? kind.slice(0, 100) : undefined,
    input: {
      ...(typeof path === 'string' ? { path } : {}),
      ...(raw as JsonObject),
      ...(typeof title === 'string' ? { title: title.slice(0, MAX_TITLE_CHARS) } : {}),
    },
    output: outputText(call),
    state: status === 'completed' || status === 'failed' ? status : 'open',
  }
}

function outputText({ content, rawOutput }: JsonObject): string | undefined {
  const texts = Array.isArray(content) ? content.flatMap((one) => contentText(objectOf(one))) : []
  if (texts.length > 0) return cut(texts.join('\n'))
  if (rawOutput === undefined || rawOutput === null) return undefined
  return cut(typeof rawOutput === 'string' ? rawOutput : JSON.stringify(rawOutput))
}

function contentText({ type, content, path, newText }: JsonObject): readonly string[] {
  if (type === 'content') return [blockText(objectOf(content))]
  if (type === 'diff') return [`${String(path)}:\n${String(newText ?? '')}`]
  return []
}

/** Content that is no text is named: its bytes stay with the program. */
function blockText(block: JsonObject): string {
  const { type, text, uri, name, resource } = block
  if (type === 'text') return typeof text === 'string' ? text : ''
  if (type === 'resource_link') return `[${String(name ?? uri)}](${String(uri)})`
  if (type === 'resource') {
    const { text: embedded, uri: of } = objectOf(resource)
    return typeof embedded === 'string' ? embedded : `[${String(of)}]`
  }
  return typeof type === 'string' ? `[${type}]` : ''
}

const PLAN_STATUS: Readonly<Record<string, PlanList['items'][number]['status']>> = {
  pending: 'pending',
  in_progress: 'in_progress',
  completed: 'done',
}

function planOf(entries: Json | undefined): PlanList {
  const given = Array.isArray(entries) ? entries.slice(0, MAX_PLAN_ITEMS) : []
  return {
    items: given.map((entry: Json) => {
      const { content, status } = objectOf(entry)
      return {
        text: String(content).slice(0, MAX_PLAN_ITEM_CHARS),
        status: PLAN_STATUS[String(status)] ?? 'pending',
      }
    }),
  }
}

function cut(text: string): string {
  if (text.length <= MAX_OUTPUT_CHARS) return text
  return `${text.slice(0, MAX_OUTPUT_CHARS).toWellFormed()}\n(${text.length - MAX_OUTPUT_CHARS} more characters)`
}
