import { hintAtApproval } from '../hint-at-approval.ts'
import { refuseInside } from '../refuse-inside.ts'
import { settlementText } from '../settlement-text.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'
import { answerEach, exitCodeOfAnswer } from './approve.ts'

export const deny = subcommand({
  name: 'deny',
  summary: 'Denies requests of agents',
  usage: ['deny <approval> [advice]', 'deny <approval>… [--advice <text>]'],
  options: { advice: { type: 'text', value: 'text', about: 'what the agent should do instead' } },
  about: 'The process that waits for it ends without having begun. The agent reads your advice.',
  examples: [
    ['reeve deny a_7k3m9q2x4t8v "Open a pull request instead."', ''],
    ['reeve deny a_7k3m9q2x4t8v a_x4t8v7k3m9q2 --advice "Not today."', 'several'],
  ],
  async run(context) {
    refuseInside(context, 'reeve deny')
    const { args, options, print } = context
    const [id, ...rest] = args
    if (id === undefined)
      throw new UsageError('reeve deny needs the id of an approval.', 'reeve approvals lists them.')
    const isWord = (text: string) => options.advice === undefined && !APPROVAL.test(text)
    const words = rest.filter(isWord)
    const ids = [id, ...rest.filter((text) => !isWord(text))]
    const advice = options.advice ?? (words.length === 0 ? undefined : words.join(' '))
    const given = advice === undefined ? {} : { advice }
    const reeve = await context.acting()
    if (ids.length > 1)
      return answerEach(
        context,
        reeve,
        ids.map((one) => ({ type: 'deny', id: one, ...given })),
        'denied',
      )
    const settled = await hintAtApproval(reeve, id, () => reeve.deny({ id, ...given }))
    if (print.isJson) print.json(settled)
    else print.line(settlementText(settled))
    return exitCodeOfAnswer(settled, 'denied')
  },
})

/** Tells further approvals from the words of the advice. */
const APPROVAL = /^a_[0-9a-z]{12}(-\d+)?$/
