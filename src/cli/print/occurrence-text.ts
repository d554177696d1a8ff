import type { OutputOf } from '../../verbs/reeve.ts'

/** What a schedule or a trigger runs, in a line. */
export function occurrenceText({ process }: Pick<OutputOf<'schedule'>, 'process'>): string {
  const { kind, spec, label } = process
  if (typeof label === 'string') return label
  const { argv, run, workflow, tool, goal } = (spec ?? {}) as Readonly<Record<string, unknown>>
  const text = Array.isArray(argv) ? argv.join(' ') : (run ?? workflow ?? tool ?? goal)
  return typeof text === 'string' ? text : String(kind)
}
