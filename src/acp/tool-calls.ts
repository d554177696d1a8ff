import { resolve } from 'node:path'
import type {
  ToolCall,
  ToolCallContent,
  ToolCallLocation,
  ToolCallUpdate,
  ToolKind,
} from '@agentclientprotocol/sdk'
import { isObject } from '../base/is-object.ts'
import type { OutputOf } from '../verbs/reeve.ts'

type Item = OutputOf<'agentLog'>['items'][number]
export type Called = Extract<Item, { type: 'tool_called' }>['payload']
export type Answered = Extract<Item, { type: 'tool_answered' }>['payload']
type Part = Called['parts'][number]

/** The tools whose calls an editor shows in a way of its own; others are shown by their names. */
const KINDS: Readonly<Record<string, ToolKind>> = {
  read_file: 'read',
  list_files: 'search',
  search_files: 'search',
  edit_file: 'edit',
  write_file: 'edit',
  read_result: 'read',
  tool_search: 'search',
  run_command: 'execute',
  command_output: 'read',
  command_input: 'execute',
  stop_command: 'execute',
  list_processes: 'read',
  web_fetch: 'fetch',
  plan: 'think',
}

/** Arguments that say most about a call. */
const MAIN_ARGUMENTS = ['path', 'command', 'url', 'query', 'pattern', 'question', 'text']
const MAX_TITLE_CHARS = 200
/** What is shown literally: editors read other texts as Markdown. */
const LITERAL: ReadonlySet<ToolKind> = new Set(['read', 'search', 'execute'])

/** A tool call as the editor shows it. `workspace` is the folder that relative paths begin at. */
export function toolCallOf(toolCallId: string, workspace: string | null, { tool, parts }: Called): ToolCall {
  const given = parts[0]?.['input']
  const input = isObject(given) ? given : {}
  return {
    toolCallId,
    title: titleOf(tool, input),
    name: tool,
    kind: KINDS[tool] ?? 'other',
    status: 'in_progress',
    rawInput: given ?? {},
    locations: locationsOf(tool, workspace, input),
    content: diffsOf(tool, workspace, input),
  }
}

/** The result of a call. Diffs stay as they are shown if the change was made. */
export function toolResultOf(call: ToolCall, { parts, isError }: Answered): ToolCallUpdate {
  const { toolCallId, kind = 'other', content = [] } = call
  const shown = parts.flatMap((part) => contentOf(part, LITERAL.has(kind)))
  const keepsDiffs = content.length > 0 && !isError
  return {
    toolCallId,
    status: isError ? 'failed' : 'completed',
    content: keepsDiffs ? [...content] : shown,
    rawOutput: { text: textOf(parts) },
  }
}

/** The text of parts, as a person reads it. */
export function textOf(parts: readonly Part[]): string {
  return parts
    .flatMap((part) => {
      if (typeof part['text'] === 'string') return [part['text']]
      if (part.type === 'json') return [JSON.stringify(part['value'])]
      return part.type === 'blob' ? [LARGE] : []
    })
    .join('\n')
}

const LARGE = '(large content: reeve agent export shows it)'

function titleOf(tool: string, input: Readonly<Record<string, unknown>>): string {
  const main = MAIN_ARGUMENTS.map((name) => input[name]).find((value) => typeof value === 'string')
  const argv = Array.isArray(input['argv']) ? input['argv'].join(' ') : undefined
  const said = (main ?? argv ?? '').split('\n')[0] ?? ''
  const title = said === '' ? tool : tool === 'run_command' ? said : `${tool} ${said}`
  return title.length > MAX_TITLE_CHARS ? `${title.slice(0, MAX_TITLE_CHARS - 1)}…` : title
}

function locationsOf(
  tool: string,
  workspace: string | null,
  { path, offset }: Readonly<Record<string, unknown>>,
): ToolCallLocation[] {
  if (!FILE_TOOLS.has(tool) || typeof path !== 'string' || workspace === null) return []
  const line = typeof offset === 'number' && offset > 0 ? { line: offset } : {}
  return [{ path: resolve(workspace, path), ...line }]
}

const FILE_TOOLS: ReadonlySet<string> = new Set(['read_file', 'edit_file', 'write_file'])

function diffsOf(
  tool: string,
  workspace: string | null,
  { path, edits, content }: Readonly<Record<string, unknown>>,
): ToolCallContent[] {
  if (typeof path !== 'string' || workspace === null) return []
  const file = resolve(workspace, path)
  if (tool === 'write_file' && typeof content === 'string')
    return [{ type: 'diff', path: file, newText: content }]
  if (tool !== 'edit_file' || !Array.isArray(edits)) return []
  return edits.flatMap((edit: unknown) => {
    const { oldText, newText } = isObject(edit) ? edit : {}
    if (typeof oldText !== 'string' || typeof newText !== 'string') return []
    return [{ type: 'diff' as const, path: file, oldText, newText }]
  })
}

function contentOf(part: Part, isLiteral: boolean): ToolCallContent[] {
  const { data, mediaType } = part
  if (part.type === 'image' && typeof data === 'string' && typeof mediaType === 'string')
    return [{ type: 'content', content: { type: 'image', data, mimeType: mediaType } }]
  const text = textOf([part])
  if (text === '') return []
  return [{ type: 'content', content: { type: 'text', text: isLiteral ? fenced(text) : text } }]
}

/** A fence that is longer than each one in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/^`+/gm)].map(([found]) => found.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}
