import { refuseExtraArguments } from '../arguments.ts'
import { subcommand } from '../subcommand.ts'

export const demo = subcommand({
  name: 'demo',
  summary: 'Two kernels, a kill -9 in the middle, and the proof that nothing was lost',
  usage: ['demo'],
  options: {},
  about: 'Takes under a minute, needs no key and no daemon, and leaves nothing behind.',
  examples: [['reeve demo', '']],
  async run(context) {
    refuseExtraArguments(context, { name: 'demo' })
    return context.daemon.demo()
  },
})
