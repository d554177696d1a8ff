import { labelOf } from '../../core/process/label.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { Outcome, ProcessRecord } from '../../core/process/record.ts'
import { INLINE_BYTES, INLINE_LINES } from '../../core/tool/spill.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { OutputRange } from '../tools/agent-tool.ts'

/** The end of a command's output, masked by the verb that reads it. */
export interface ShownOutput {
  readonly text: string
  /** All bytes that the log had. The output stays there: no copy is stored. */
  readonly range: OutputRange
}

/** The output of a command for the model: all of it, or its last lines and how to read the rest. */
export async function shownOutput(reeve: ReeveVerbs, pid: Pid): Promise<ShownOutput> {
  const { lines, total } = await reeve.log({ pid, from: 'end', limit: INLINE_LINES })
  const { end: to } = await reeve.output({ pid, offset: 0, limit: 1 })
  const shown: (typeof lines)[number][] = []
  let bytes = 0
  for (const line of lines.toReversed()) {
    bytes += Buffer.byteLength(line.text) + 1
    if (bytes > INLINE_BYTES && shown.length > 0) break
    shown.unshift(line)
  }
  const text = shown.map((line) => line.text).join('\n')
  const range = { pid, from: 0, to }
  const isWhole =
    shown.length === total && shown.every(({ cut, partial }) => cut !== true && partial !== true)
  if (isWhole) return { text: total === 0 ? '(no output)' : text, range }
  const hint = `(the last ${shown.length} of ${total} lines, ${to} bytes in all; read them with command_output {"pid":"${pid}","cursor":"o0"})`
  return { text: `${hint}\n${text.slice(-2 * INLINE_BYTES).toWellFormed()}`, range }
}

/** The state of a command in a few words. */
export function stateText(record: ProcessRecord): string {
  const { status, outcome } = record
  return `${outcome === null ? `It is ${status}.` : endText(outcome)}${editText(record)}`
}

/** A model that is not told of an edit takes the output for that of its own command. */
function editText({ kind, effectiveSpec }: ProcessRecord): string {
  if (effectiveSpec == null) return ''
  return ` [approved with changes; ran instead: ${labelOf({ kind, spec: effectiveSpec })}]`
}

function endText({ status, exitCode, signal, reason }: Outcome): string {
  const why = reason === null ? '' : ` (${reason})`
  if (exitCode !== null) return `Exit code ${exitCode}${why}.`
  if (signal !== null) return `Ended by ${signal}${why}.`
  return status === 'abandoned' ? 'It is gone, and how it ended is unknown.' : `It ended: ${status}${why}.`
}
