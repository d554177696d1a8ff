import { restart } from '../../verbs/restart.ts'
import { begun, begunOutput, startWaitMs } from '../begun.ts'
import { maxChars } from '../page.ts'
import { tool } from '../tool.ts'

export const processRestart = tool({
  name: 'process_restart',
  title: 'Start a process again',
  description: [
    'Ends a process if it still runs, and starts the same command again, in the same folder and under the same name.',
    'The new one has a pid of its own; the output of the old one can still be read. Answers as process_start does.',
  ].join(' '),
  input: restart.input.extend({ waitMs: startWaitMs, maxChars }),
  output: begunOutput,
  does: 'end',
  async run({ waitMs, maxChars: most, ...asked }, call) {
    return call.perform(async (acting) => {
      const { record } = await acting.restart(asked)
      return begun(acting, record.pid, { waitMs, maxChars: most }, call)
    })
  },
})
