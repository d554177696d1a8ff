import { refuseExtraArguments } from '../arguments.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

const OWN = ['pause', 'resume', 'interrupt', 'cancel', 'kill'] as const

export const signal = subcommand({
  name: 'signal',
  summary: 'Pauses, resumes, interrupts or cancels a process, or sends its program an OS signal',
  usage: ['signal [options] <process> <signal>'],
  completes: 'live process',
  options: {
    group: { type: 'flag', about: "send an OS signal to the program's whole process group" },
    reason: { type: 'text', value: 'text', about: 'the reason, which is recorded' },
  },
  about: `A signal is one of ${OWN.join(', ')}, or one of the OS by name: SIGHUP, HUP, hup.`,
  examples: [
    ['reeve signal web pause', ''],
    ['reeve signal web resume', ''],
    ['reeve signal web HUP', 'sends SIGHUP to the program'],
  ],
  async run(context) {
    refuseExtraArguments(context, { name: 'signal' }, 2)
    const { options, print, args } = context
    const [pid, given] = args
    if (pid === undefined || given === undefined)
      throw new UsageError('reeve signal needs a process and a signal.', 'For example: reeve signal web HUP')
    const own = OWN.find((name) => name === given)
    const reeve = await context.acting()
    const answer = await reeve.signal({
      pid,
      signal: own ?? osSignal(given),
      ...(options.group ? { to: 'group' as const } : {}),
      ...(options.reason === undefined ? {} : { reason: options.reason }),
    })
    if (print.isJson) print.json(answer)
    else if (answer.type === 'recorded')
      print.aside('The stop is recorded. Reeve cannot reach the process, so nothing was signalled.')
    return 0
  },
})

function osSignal(given: string): string {
  const name = given.toUpperCase()
  return name.startsWith('SIG') ? name : `SIG${name}`
}
