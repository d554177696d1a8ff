import { didYouMean } from '../../base/nearest-name.ts'
import { ReeveError } from '../../core/errors.ts'
import type { Context } from '../context.ts'
import type { Options } from '../options.ts'
import { subcommand } from '../subcommand.ts'
import { listFiles, trustOne, untrustOne } from '../trust/agent-files.ts'
import { showFile } from '../trust/show-file.ts'
import { UsageError } from '../usage-error.ts'

const OPTIONS = {
  hash: { type: 'text', value: 'hash', about: 'trust: the version that you have looked at' },
  yes: { type: 'flag', short: 'y', about: 'trust: as it is shown now' },
} as const

type SkillContext = Context<Options<typeof OPTIONS>>
type Act = (context: SkillContext, path: string) => Promise<number>

const ACTS: Readonly<Record<string, Act>> = { show, trust: trustOne, untrust: untrustOne }
const ACTIONS = ['list', ...Object.keys(ACTS)]

export const skill = subcommand({
  name: 'skill',
  summary: 'Shows the skills of agents in this folder, and trusts them',
  usage: [
    'skill [list]',
    'skill show <name>',
    'skill trust <name> [--hash <hash> | --yes]',
    'skill untrust <name>',
  ],
  completes: ACTIONS,
  options: OPTIONS,
  about:
    'A skill is a folder with a SKILL.md in .reeve/skills or .claude/skills of a workspace, or in skills of the home. Agents use those that you trust. A skill of which any file has changed is not loaded until you trust it again.',
  examples: [
    ['reeve skill', 'those of this folder'],
    ['reeve skill show release', ''],
    ['reeve skill trust release --hash 4f1c2a9b', ''],
  ],
  async run(context) {
    const [action = 'list', name, ...more] = context.args
    if (action === 'list' && name === undefined) return listFiles(context, 'skill')
    const act = Object.hasOwn(ACTS, action) ? ACTS[action] : undefined
    if (act === undefined || more.length > 0)
      throw new UsageError(
        `reeve skill does not know ${action}.${didYouMean(action, ACTIONS)}`,
        `It knows ${ACTIONS.join(', ')}.`,
      )
    if (name === undefined)
      throw new UsageError(`reeve skill ${action} needs the name of a skill.`, 'reeve skill lists them.')
    return act(context, await pathOf(context, name))
  },
})

async function pathOf(context: SkillContext, name: string): Promise<string> {
  const { files } = await (await context.acting()).agentFiles({ folder: context.around.cwd, kind: 'skill' })
  const found = files.find((file) => file.name === name)
  if (found !== undefined) return found.path
  const names = files.map((file) => file.name)
  throw new ReeveError(
    'not_found',
    `There is no skill ${name} in this folder or above it.${didYouMean(name, names)}`,
    'List them with reeve skill.',
  )
}

async function show(context: SkillContext, path: string): Promise<number> {
  const { print } = context
  const shown = await (await context.acting()).agentFile({ path })
  if (print.isJson) {
    print.json(shown)
    return 0
  }
  showFile(context, shown)
  return 0
}
