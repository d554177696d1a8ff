import type { OutputOf } from '../../verbs/reeve.ts'
import { requireProcesses } from '../arguments.ts'
import { environmentForRestart } from '../caller-environment.ts'
import { subcommand } from '../subcommand.ts'

export const restart = subcommand({
  name: 'restart',
  summary: 'Ends a process, and starts it again under the same name',
  usage: ['restart [options] <process>…'],
  completes: 'process',
  options: {
    grace: {
      type: 'duration',
      short: 'g',
      about: 'how long the old process may take to end before it is forced',
    },
  },
  fields: { graceMs: 'grace' },
  about: `
Prints the pid of each new process; the old one keeps its record and its output. A command that inherited the environment of a shell
(reeve run --inherit-env) gets the environment of this shell.`,
  examples: [['reeve restart web', 'a new process of the same name']],
  async run(context) {
    const { options, print } = context
    const reeve = await context.acting()
    const grace = options.grace === undefined ? {} : { graceMs: options.grace }
    const begun: OutputOf<'restart'>['record'][] = []
    for (const pid of requireProcesses(context, { name: 'restart' })) {
      const { spec } = await reeve.show({ pid })
      const { record } = await reeve.restart({
        pid,
        ...grace,
        ...environmentForRestart(context, spec),
      })
      begun.push(record)
      if (!print.isJson) print.line(record.pid)
    }
    if (print.isJson) print.jsonList(begun)
    return 0
  },
})
