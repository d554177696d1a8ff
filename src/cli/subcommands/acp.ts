import { chooseModel } from '../agent/choose-model.ts'
import { refuseExtraArguments } from '../arguments.ts'
import { subcommand } from '../subcommand.ts'

export const acp = subcommand({
  name: 'acp',
  summary: 'Serves an editor the Agent Client Protocol on standard input and output',
  usage: ['acp [options]'],
  options: {
    model: {
      type: 'texts',
      short: 'm',
      value: 'provider/model',
      about: 'the model; $REEVE_MODEL by default; repeatable: the editor offers them all',
    },
    preset: {
      type: 'text',
      value: 'name',
      about: 'the rules that a session begins with: observe, ask, edit or full',
    },
    system: {
      type: 'text',
      value: 'text',
      about: 'the system prompt of its agents, instead of the built-in one',
    },
  },
  about: `
Editors start this program; docs/editors.md has the entries of their settings. Each session of the editor is an agent of Reeve, in
the folder of the project: reeve agent list shows it, and it goes on when the editor is closed or the daemon is killed. The editor opens it again with its whole history.

Requests for your approval are shown in the editor if you say that you sit there: "approver": true in reeve.json, or
reeve up --approver. Without that reeve approve answers them.`,
  examples: [
    ['reeve acp --model anthropic/claude-opus-5-5', 'the command for the settings of Zed'],
    ['reeve acp --preset ask', 'agents that read, and ask you for everything else'],
    ['reeve acp --model scripted/demo', 'without a key'],
  ],
  async run(context) {
    refuseExtraArguments(context, { name: 'acp' })
    const { model, preset, system } = context.options
    const [given, ...others] = model
    const reeve = await context.reeveForAgent()
    const first = await chooseModel(context, reeve, given)
    return context.daemon.acp(reeve, { models: [first, ...others], preset, system })
  },
})
