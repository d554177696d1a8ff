import { refuseExtraArguments } from '../arguments.ts'
import { scriptFor } from '../completion-scripts.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

export const completion = subcommand({
  name: 'completion',
  summary: 'Prints a script with which your shell completes subcommands, options, pids and names',
  usage: ['completion <bash|zsh|fish>'],
  completes: SHELLS,
  options: {},
  examples: [
    ['source <(reeve completion bash)', 'in ~/.bashrc'],
    ['source <(reeve completion zsh)', 'in ~/.zshrc, behind compinit'],
    ['reeve completion fish | source', 'in ~/.config/fish/config.fish'],
  ],
  async run(context) {
    refuseExtraArguments(context, { name: 'completion' }, 1)
    const [given] = context.args
    const shell = SHELLS.find((known) => known === given)
    if (shell === undefined)
      throw new UsageError(
        given === undefined
          ? 'reeve completion needs the name of a shell.'
          : `There is no completion for ${given}.`,
        `It takes one of: ${SHELLS.join(', ')}.`,
      )
    context.print.line(scriptFor(shell))
    return 0
  },
})
