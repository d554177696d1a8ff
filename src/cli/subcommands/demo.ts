import { refuseExtraArguments } from '../arguments.ts'
import { subcommand } from '../subcommand.ts'

export const demo = subcommand({
  name: 'demo',
  summary: 'A kill -9 in the middle of work, and the proof that nothing was lost',
  usage: ['demo [agent]'],
  options: {},
  about: `
reeve demo kills one of two kernels that share a store. reeve demo agent kills the daemon while a coding agent works, whose model is a
script. Both take under a minute, need no key and no daemon, leave nothing behind, and exit with 0 only if their proofs hold.`,
  examples: [
    ['reeve demo', ''],
    ['reeve demo agent', 'with an agent'],
  ],
  async run(context) {
    if (context.args.length === 1 && context.args[0] === 'agent') return context.daemon.demo('agent')
    refuseExtraArguments(context, { name: 'demo' })
    return context.daemon.demo('kernels')
  },
})
