import { resolve } from 'node:path'
import type { InputOf, OutputOf } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../usage-error.ts'
import { holderOf, type SubjectOptions } from './subjects.ts'

type Explained = OutputOf<'explainRules'>
type Ruling = Explained['ruling']

/** `reeve policy explain`: what the rules say about a command line or a resource, and why. */
export async function explain(
  context: Context<SubjectOptions & { readonly cwd: string | undefined }>,
  args: readonly string[],
): Promise<number> {
  const { print, around, options } = context
  const subject = await holderOf(context)
  const reeve = await context.acting()
  const explained = await reeve.explainRules({
    what: whatIn(args),
    cwd: resolve(around.cwd, options.cwd ?? options.workspace ?? '.'),
    ...(subject === undefined ? {} : { subject }),
  })
  if (print.isJson) print.json(explained)
  else printExplained(context, explained)
  return 0
}

/** A resource has a kind before a colon. Anything else is a command: one argument is a line for the shell. */
function whatIn(args: readonly string[]): InputOf<'explainRules'>['what'] {
  const [first, ...more] = args
  if (first === undefined)
    throw new UsageError(
      'reeve policy explain needs a command line or a resource.',
      `For example: reeve policy explain 'git push'`,
    )
  const text = args.join(' ')
  const [, program] = /^shell:(.+)$/s.exec(text) ?? []
  if (program !== undefined) return { type: 'run', run: program }
  if (/^(?:[a-z]+ )?[a-z]+:\S/.test(text) && !/^[a-z]+:\/\//.test(text))
    return { type: 'resource', resource: text }
  return more.length === 0 ? { type: 'run', run: first } : { type: 'argv', argv: [...args] }
}

function printExplained(
  { print }: Pick<Context<object>, 'print'>,
  { ruling, doubt, needs, sets }: Explained,
): void {
  const { bold, dim } = print.colours
  print.line(bold(sentenceOf(ruling, doubt)))
  for (const need of needs) {
    print.line(
      `${need.ruling.type.padEnd(5)} ${need.text}${need.opaque === null ? '' : dim(`  ${need.opaque}`)}`,
    )
    for (const { subject, id, text, match } of need.rules)
      print.line(`      ${id} of ${subject}: ${text}${match === 'yes' ? '' : dim('  (may match)')}`)
  }
  const closed = sets.filter((set) => set.closed && set.trusted).map(({ subject }) => subject)
  if (closed.length > 0) print.line(`What nothing allows is denied by ${closed.join(', ')}.`)
}

function sentenceOf({ type, rule, reason }: Ruling, doubt: string | undefined): string {
  const by = rule === null ? '' : ` by ${rule.id} of ${rule.subject}`
  const why = reason === null ? '' : ` ${reason}`
  switch (type) {
    case 'allow':
      return rule === null ? 'Allowed: no rule is about it.' : `Allowed${by}.`
    case 'ask':
      return rule === null || doubt === undefined
        ? `A person is asked${by}.${why}`
        : `A person is asked: ${doubt}, so ${rule.id} of ${rule.subject} may apply.${why}`
    case 'deny':
      return `Denied${by}.${why}`
  }
}
