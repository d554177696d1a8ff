import { someProcesses } from '../arguments.ts'
import { word } from '../word.ts'

export const restart = word({
  name: 'restart',
  summary: 'Ends a process, and starts the same once more under its name',
  usage: ['restart [options] <process>…'],
  completes: 'process',
  options: {
    grace: { type: 'duration', short: 'g', about: 'how long the old one may take before it is forced' },
  },
  about: 'Prints the pid of each new process; the old one keeps its record and its output.',
  examples: [['reeve restart web', 'a new process of the same name']],
  async run(context) {
    const { options, print } = context
    const reeve = await context.acting()
    for (const pid of someProcesses(context, { name: 'restart' })) {
      const grace = options.grace === undefined ? {} : { graceMs: options.grace }
      const { record } = await reeve.restart({ pid, ...grace })
      if (print.isJson) print.json(record)
      else print.line(record.pid)
    }
    return 0
  },
})
