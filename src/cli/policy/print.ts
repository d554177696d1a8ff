import type { OutputOf } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'

type Policies = OutputOf<'policies'>
export type ShownRule = Policies['rules'][number]

export function lineOf({ subject, id, text }: ShownRule): string {
  return `${id} of ${subject}: ${text}`
}

/** Everything that binds agents: rules, and the policy files that they come from. */
export function printPolicies({ print }: Pick<Context<object>, 'print'>, { rules, files }: Policies): void {
  if (rules.length === 0) print.line('There are no rules: agents do what their sessions may do.')
  const { blue, dim } = print.colours
  if (rules.length > 0)
    print.table(
      [{ title: 'ID' }, { title: 'FOR' }, { title: 'RULE', flexible: true }],
      rules.map(({ subject, id, text, inForce }) => [
        { text: id, paint: blue },
        { text: subject, paint: dim },
        inForce ? { text } : { text: `(not in force) ${text}`, paint: dim },
      ]),
    )
  for (const file of files) for (const line of noteOn(file)) print.line(line)
}

/** What a person may want to do about a file. */
function noteOn({
  path,
  folder,
  state,
  problems,
  activates,
  kept,
}: Policies['files'][number]): readonly string[] {
  const before =
    kept.length === 0
      ? ''
      : ` ${kept.length} ${kept.length === 1 ? 'rule' : 'rules'} of earlier versions count until then.`
  switch (state) {
    case 'trusted':
      return []
    case 'untrusted':
      return activates.length === 0 && kept.length === 0
        ? []
        : [`${path} is not trusted. reeve policy trust ${folder} shows what it would allow.${before}`]
    case 'invalid':
      return problems.map(
        ({ line, message }) =>
          `${path}:${line}: ${message} Its last good version counts; without one, agents start nothing there.`,
      )
    case 'missing':
      return [`${path} is gone. Its rules count until you run reeve policy forget ${folder}`]
  }
}
