import type { OutputOf } from '../../verbs/reeve.ts'
import { refuseInside } from '../refuse-inside.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

export const approve = subcommand({
  name: 'approve',
  summary: 'Lets processes begin that wait for your approval',
  usage: ['approve <approval>…'],
  options: {},
  about:
    'The exact action of the request runs once. If its program, folder or environment changes before, you are asked again.',
  examples: [['reeve approve a_7k3m9q2x4t8v', '']],
  async run(context) {
    refuseInside(context, 'reeve approve')
    const { args, print } = context
    if (args.length === 0)
      throw new UsageError('reeve approve needs the id of an approval.', 'reeve approvals lists them.')
    const reeve = await context.acting()
    const settled: OutputOf<'approve'>[] = []
    for (const id of args) {
      const answer = await reeve.approve({ id })
      settled.push(answer)
      if (!print.isJson) print.line(settlementText(answer))
    }
    if (print.isJson) print.jsonList(settled)
    return 0
  },
})

/** What became of an approval, in a line. */
export function settlementText({ type, approval }: OutputOf<'approve'>): string {
  const { id, pid, state, answer } = approval
  const how = answer === null ? state : `${answer.type} by ${answer.by}`
  return type === 'settled' ? `${id} ${how}: ${pid}` : `${id} was ${how} before, and that stays: ${pid}`
}
