import { requireProcess } from '../arguments.ts'
import { subcommand } from '../subcommand.ts'

export const screen = subcommand({
  name: 'screen',
  summary: 'Prints the current screen of a command with a terminal',
  usage: ['screen [options] <process>'],
  completes: 'process',
  options: {
    scrollback: {
      type: 'number',
      short: 's',
      value: 'lines',
      about: 'also lines above the screen, up to 1,000',
    },
    reveal: { type: 'flag', about: 'show secrets unmasked; this is recorded with the process' },
  },
  about: 'For programs with a terminal (reeve run --pty): editors, installers, shells.',
  examples: [
    ['reeve screen installer', 'once'],
    ['watch -n1 reeve screen top', 'every second'],
  ],
  async run(context) {
    const pid = requireProcess(context, { name: 'screen' })
    const { options, print } = context
    const reeve = await context.acting()
    const { scrollback, reveal } = options
    const shown = await reeve.screen({ pid, reveal, ...(scrollback === undefined ? {} : { scrollback }) })
    if (print.isJson) print.json(shown)
    else for (const line of [...shown.scrollback, ...withoutLastBlanks(shown.lines)]) print.line(line)
    return 0
  },
})

function withoutLastBlanks(lines: readonly string[]): readonly string[] {
  const last = lines.findLastIndex((line) => line.trim() !== '')
  return lines.slice(0, last + 1)
}
