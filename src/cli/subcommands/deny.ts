import { refuseInside } from '../refuse-inside.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'
import { settlementText } from './approve.ts'

export const deny = subcommand({
  name: 'deny',
  summary: 'Denies a request of an agent',
  usage: ['deny <approval> [advice]'],
  options: {},
  about: 'The process that waits for it ends without having begun. The agent reads your advice.',
  examples: [['reeve deny a_7k3m9q2x4t8v "Open a pull request instead."', '']],
  async run(context) {
    refuseInside(context, 'reeve deny')
    const { args, print } = context
    const [id, ...advice] = args
    if (id === undefined)
      throw new UsageError('reeve deny needs the id of an approval.', 'reeve approvals lists them.')
    const reeve = await context.acting()
    const settled = await reeve.deny({ id, ...(advice.length === 0 ? {} : { advice: advice.join(' ') }) })
    if (print.isJson) print.json(settled)
    else print.line(settlementText(settled))
    return 0
  },
})
