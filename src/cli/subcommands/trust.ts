import { resolve } from 'node:path'
import { subcommand } from '../subcommand.ts'
import { listFiles, trustOne, untrustOne } from '../trust/agent-files.ts'

export const trust = subcommand({
  name: 'trust',
  summary: 'Shows files that define something for agents, and trusts them',
  usage: ['trust [list]', 'trust <path> [--hash <hash> | --yes]', 'trust --no <path>'],
  options: {
    hash: { type: 'text', value: 'hash', about: 'the version that you have looked at' },
    yes: { type: 'flag', short: 'y', about: 'trust it as it is shown now' },
    no: { type: 'flag', about: 'trust no version of it any more' },
  },
  about:
    'Images, skills, slash commands and hooks of a workspace come with a clone, and an agent can write them. So they do nothing until you trust them, each in the version that you looked at. A changed file has to be trusted again.',
  examples: [
    ['reeve trust', 'what there is in this folder, and whether you trust it'],
    ['reeve trust .claude/skills/release --hash 4f1c2a9b', ''],
    ['reeve trust --no .reeve/agents/reviewer.yaml', ''],
  ],
  async run(context) {
    const [path, ...more] = context.args
    if (path === undefined || (path === 'list' && more.length === 0)) return listFiles(context)
    const at = resolve(context.around.cwd, path)
    return context.options.no ? untrustOne(context, at) : trustOne(context, at)
  },
})
