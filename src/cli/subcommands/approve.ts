import type { ReeveError } from '../../core/errors.ts'
import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import { askYes } from '../ask-yes.ts'
import type { Context } from '../context.ts'
import { editedSpec } from '../edited-spec.ts'
import { CONFLICT, FAILED } from '../exit-code.ts'
import { approvalHint, hintAtApproval } from '../hint-at-approval.ts'
import { storedText } from '../print/approval-card.ts'
import { refuseInside } from '../refuse-inside.ts'
import { settlementText } from '../settlement-text.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

const GRANTS = ['once', 'process', 'session', 'always'] as const
const LEVELS = ['home', 'workspace'] as const satisfies readonly Level[]

export const approve = subcommand({
  name: 'approve',
  summary: 'Lets processes begin that wait for your approval',
  usage: [
    'approve <approval>…',
    'approve <approval> --for <grant> [--in <level>]',
    'approve <approval> --edit | --spec <json>',
  ],
  options: {
    for: {
      type: 'text',
      value: 'grant',
      about: 'once (default), or the same action again: of the asking process, of its session, or always',
    },
    in: {
      type: 'text',
      value: 'level',
      about: 'with --for always: store the rule in the home (default), or in the workspace of the asker',
    },
    yes: { type: 'flag', short: 'y', about: 'with --for always: store the rule without asking' },
    edit: { type: 'flag', about: 'change the spec in $EDITOR first; what you save runs, once' },
    spec: { type: 'text', value: 'json', about: 'run this whole spec instead, once' },
  },
  about:
    'The exact action of the request runs. If its program, folder or environment changes before, you are asked again. With --for, the same action is not asked about again; another argument, variable, input or folder is another action. `reeve approvals <approval>` shows what you may choose, and the rule that `always` stores.',
  examples: [
    ['reeve approve a_7k3m9q2x4t8v', ''],
    ['reeve approve a_7k3m9q2x4t8v a_x4t8v7k3m9q2', 'several, each once'],
    ['reeve approve a_7k3m9q2x4t8v --for session', 'do not ask this session again'],
    ['reeve approve a_7k3m9q2x4t8v --for always --in workspace', 'do not ask in this folder again'],
    ['reeve approve a_7k3m9q2x4t8v --edit', ''],
  ],
  async run(context) {
    refuseInside(context, 'reeve approve')
    const { args, options, print } = context
    const [id, ...more] = args
    if (id === undefined)
      throw new UsageError('reeve approve needs the id of an approval.', 'reeve approvals lists them.')
    const grant = grantOf(options.for)
    const level = levelOf(options.in)
    if (level !== undefined && grant !== 'always')
      throw new UsageError(
        '--in says where --for always stores its rule.',
        'Leave it out, or add --for always.',
      )
    const isEdited = options.edit || options.spec !== undefined
    if (more.length > 0 && (grant !== 'once' || isEdited))
      throw new UsageError(
        'Several requests are approved as they are, and once.',
        'Give one approval to use --for, --edit or --spec.',
      )
    const reeve = await context.acting()
    if (more.length > 0)
      return answerEach(
        context,
        reeve,
        args.map((one) => ({ type: 'approve', id: one })),
        'approved',
      )
    const hinting = <T>(act: () => Promise<T>) => hintAtApproval(reeve, id, act)
    const rule = grant === 'always' ? await hinting(() => shownRule(context, reeve, id)) : undefined
    if (rule === null) {
      print.aside('Nothing was answered.')
      return FAILED
    }
    const spec = isEdited ? await hinting(() => editedSpec(context, reeve, id)) : undefined
    if (spec === null) {
      print.aside('Nothing was changed, so nothing was answered.')
      return FAILED
    }
    const stored = level === undefined ? {} : { level }
    const given = {
      ...stored,
      ...(rule === undefined ? {} : { rule }),
      ...(spec === undefined ? {} : { spec }),
    }
    const settled = await hinting(() => reeve.approve({ id, grant, ...given }))
    if (print.isJson) print.jsonList([settled])
    else print.line(settlementText(settled))
    if (!isAnsweredAs(settled, grant, spec)) {
      print.aside('It was answered otherwise before: what you gave now does not count.')
      return CONFLICT
    }
    return exitCodeOfAnswer(settled, 'approved')
  },
})

/** Whether what the caller chose besides a yes counts. An earlier answer has no part of it. */
function isAnsweredAs(
  { type, approval: { answer } }: OutputOf<'approve'>,
  grant: (typeof GRANTS)[number],
  spec: unknown,
): boolean {
  if (type === 'settled' || answer?.type !== 'approved') return true
  if (grant !== 'once' && answer.grant !== grant) return false
  return spec === undefined || JSON.stringify(answer.spec) === JSON.stringify(spec)
}

type Level = NonNullable<Parameters<ReeveVerbs['approve']>[0]['level']>
type Rule = NonNullable<Parameters<ReeveVerbs['approve']>[0]['rule']>

function grantOf(given: string | undefined): (typeof GRANTS)[number] {
  const grant = GRANTS.find((one) => one === (given ?? 'once'))
  if (grant !== undefined) return grant
  throw new UsageError(`--for was given ${given}.`, `It takes ${GRANTS.join(', ')}.`)
}

function levelOf(given: string | undefined): Level | undefined {
  const level = LEVELS.find((one) => one === given)
  if (given === undefined || level !== undefined) return level
  throw new UsageError(`--in was given ${given}.`, `It takes ${LEVELS.join(' or ')}.`)
}

/** The rule that `always` stores, after the person has read it; null if the person declines. */
async function shownRule(
  { around, print, options }: Context<{ readonly yes: boolean; readonly in: string | undefined }>,
  reeve: ReeveVerbs,
  id: string,
): Promise<Rule | null | undefined> {
  const { request } = (await reeve.approval({ id })).approval
  const rule = request.type === 'permission' ? request.alwaysRule : null
  // The verb says which grants there are.
  if (rule === null) return undefined
  const shown: Rule = JSON.parse(JSON.stringify(rule))
  if (options.yes) return shown
  if (around.stdin.isTTY !== true)
    throw new UsageError(
      'always stores a rule, and without a terminal you cannot read it first.',
      `reeve approvals ${id} shows it; then add --yes.`,
    )
  const [where, subject] =
    options.in === 'workspace'
      ? ['the workspace of the asker', 'the workspace']
      : ['every session of this home', 'home']
  print.aside(`This rule is stored for ${where}:\n  ${storedText(rule, subject)}`)
  return (await askYes(around, 'Store it, and approve?')) ? shown : null
}

/** Answers several requests, and prints what became of each. */
export async function answerEach(
  { print }: Context<object>,
  reeve: ReeveVerbs,
  answers: Parameters<ReeveVerbs['answerApprovals']>[0]['answers'],
  meant: 'approved' | 'denied',
): Promise<number> {
  const { results } = await reeve.answerApprovals({ answers })
  if (print.isJson) print.jsonList(results)
  else
    for (const result of results) {
      if (result.type !== 'refused') print.line(settlementText(result))
      else print.failure((await hintFor(reeve, result)) ?? result)
    }
  const codes = results.map((result) =>
    result.type === 'refused' ? FAILED : exitCodeOfAnswer(result, meant),
  )
  return codes.find((code) => code !== 0) ?? 0
}

/** Of several ids, one may be that of a process. */
async function hintFor(
  reeve: ReeveVerbs,
  { code, id }: { readonly code: string; readonly id: string },
): Promise<ReeveError | null> {
  return code === 'approval_unknown' ? approvalHint(reeve, id) : null
}

/** Not 0 if an earlier answer with another decision counts. */
export function exitCodeOfAnswer(
  { approval: { answer } }: Pick<OutputOf<'approve'>, 'approval'>,
  meant: 'approved' | 'denied',
): number {
  return answer?.type === meant ? 0 : CONFLICT
}
