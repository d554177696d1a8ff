import type { ShownOutput } from '../../core/agent/event.ts'
import type { Part } from '../../core/agent/state.ts'
import type { FileWrite } from '../../core/files/file-write.ts'
import { type Json, objectOf } from '../../core/json/json.ts'
import type { Outcome, ProcessRecord } from '../../core/process/record.ts'
import { isProcessTool } from '../../core/tool/built-in-name.ts'
import { shownText } from './stored-output.ts'

/** The result of a call for the model, as an entry of the session log has it. */
export interface CallResult {
  readonly parts: readonly Part[]
  readonly isError: boolean
  /** The output of a command that the text shows the end of. */
  readonly output?: ShownOutput
  /** The files that the call has written. */
  readonly changes?: readonly FileWrite[]
  /** It was stopped in the middle: whether it had an effect is unknown. */
  readonly unverified?: true
}

/** The reason of a stop by the toolbox: no program serves the tool any more. */
export const TOOL_UNAVAILABLE = 'tool_unavailable'

/** The text that a model reads instead of an unknown result. */
const INTERRUPTED = 'Interrupted; its effect is unverified, check before repeating.'

/** The result of a process that has ended. `justification`: of the rule that asked a person about it. */
export function resultOf(
  record: ProcessRecord,
  outcome: Outcome,
  { mask, justification }: { readonly mask: (text: string) => string; readonly justification: string | null },
): CallResult {
  if (outcome.status !== 'completed') {
    const failed = errorResult(mask(problemOf(record, outcome, justification)))
    return isUnverified(outcome) ? { ...failed, unverified: true } : failed
  }
  if (isProcessTool(record.spec['tool'])) {
    const { parts, range, changes } = objectOf(outcome.result)
    const written = writesIn(changes)
    const output = outputIn(range, record)
    const all = [...editNote(record, mask), ...partsIn(parts)]
    return {
      parts: all,
      isError: false,
      ...(output === undefined ? {} : { output }),
      ...(written.length === 0 ? {} : { changes: written }),
    }
  }
  const text = shownText(mask(textOf(outcome.result)), record.pid)
  return { parts: [...editNote(record, mask), { type: 'text', text }], isError: false }
}

/** A tool that ran out of its time is left behind, and may have written before or after. */
function isUnverified({ status, startedAt, result }: Outcome): boolean {
  return startedAt !== null && (status !== 'failed' || objectOf(result)['code'] === 'timed_out')
}

function writesIn(changes: Json | undefined): readonly FileWrite[] {
  if (!Array.isArray(changes)) return []
  return changes.flatMap((one: Json) => {
    const { path, before, after, kept } = objectOf(one)
    if (typeof path !== 'string' || !isHash(before) || !isHash(after)) return []
    return [{ path, before, after, ...(kept === true ? { kept } : {}) }]
  })
}

function isHash(value: Json | undefined): value is string | null {
  return value === null || typeof value === 'string'
}

/** A model that is not told of an edit takes the result for that of its own call. */
function editNote({ effectiveSpec }: ProcessRecord, mask: (text: string) => string): readonly Part[] {
  if (effectiveSpec == null) return []
  const input = mask(JSON.stringify(effectiveSpec['input'] ?? null)).slice(0, MAX_INPUT_CHARS)
  return [
    {
      type: 'text',
      text: `A person approved this call with changes. It ran with this input instead: ${input}`,
    },
  ]
}

const MAX_INPUT_CHARS = 4 * 1024

export function errorResult(text: string): CallResult {
  return { parts: [{ type: 'text', text: text.slice(0, MAX_ERROR_CHARS).toWellFormed() }], isError: true }
}

const MAX_ERROR_CHARS = 12 * 1024

/** The value that a tool of a program returned, as text. */
export function textOf(result: Json): string {
  if (typeof result === 'string') return result
  return result === null ? 'Done.' : JSON.stringify(result, null, 2)
}

/** Why a process that a model asked for did not complete. */
export function problemOf(record: ProcessRecord, outcome: Outcome, justification: string | null): string {
  const { status, reason, result, startedAt } = outcome
  const { advice, error } = objectOf(result)
  if (reason === 'approval_denied') {
    const said = typeof advice === 'string' ? ` They say: ${asSentence(advice)}` : ''
    return `A person denied this call; it did not run.${said}${why(justification)}`
  }
  if (reason === 'approval_expired')
    return `This call needs a person's permission, and no answer came in time; it did not run.${why(justification)}`
  if (status === 'failed') return typeof error === 'string' ? error : (reason ?? 'The tool failed.')
  if (startedAt !== null) return INTERRUPTED
  if (reason === TOOL_UNAVAILABLE)
    return `tool_unavailable: no program that is connected now serves ${String(record.spec['tool'])}; the call did not run.`
  return `The call was stopped before it began (${reason ?? status}); it did not run.`
}

function why(justification: string | null): string {
  return justification === null ? '' : ` The rule says: ${asSentence(justification)}`
}

/** People leave out the full stop, and a sentence follows. */
function asSentence(text: string): string {
  return /[.!?…]\s*$/.test(text) ? text : `${text.trimEnd()}.`
}

/** The output that a result names. A call that has started a process shows the output of that one. */
function outputIn(range: Json | undefined, { children }: ProcessRecord): ShownOutput | undefined {
  const { pid, from, to } = objectOf(range)
  if (typeof pid !== 'string' || typeof from !== 'number' || typeof to !== 'number') return undefined
  return { pid, from, to, ...(children > 0 ? { isOwn: true } : {}) }
}

/** The parts of a stored result. */
export function partsIn(parts: Json | undefined): readonly Part[] {
  return Array.isArray(parts) ? parts.filter(isPart) : []
}

function isPart(value: Json): value is Part {
  return typeof objectOf(value)['type'] === 'string'
}
