import { askYes } from '../ask-yes.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../usage-error.ts'

/** The model of each provider that an agent gets if none is named, by the variable with the provider's key. */
const BY_KEY = {
  ANTHROPIC_API_KEY: 'anthropic/claude-opus-5-5',
  OPENAI_API_KEY: 'openai/gpt-6.1-sol',
  GEMINI_API_KEY: 'google/gemini-3-pro',
} as const

/**
 * The model that an agent gets: the one that is named, that of REEVE_MODEL, or that of the provider whose key is there. A key of the shell
 * that the daemon does not have is offered to be kept as a secret: the daemon runs on when the shell is gone.
 */
export async function chooseModel(context: Context, given: string | undefined): Promise<string> {
  const { around, daemon, home, url } = context
  const model = given ?? (around.env['REEVE_MODEL'] || undefined)
  // The secrets of a daemon with an address are on its own machine.
  const kept = url === undefined ? (await (await daemon.secrets(home)).list()).map(({ name }) => name) : []
  const names = Object.keys(BY_KEY) as (keyof typeof BY_KEY)[]
  const inShell = names.filter((name) => (around.env[name] ?? '') !== '' && !kept.includes(name))
  if (url === undefined) for (const name of inShell) await offerToKeep(context, name, model)
  if (model !== undefined) return model
  const found = names.find((name) => kept.includes(name) || inShell.includes(name))
  if (found !== undefined) return BY_KEY[found]
  throw new UsageError(
    'No model is named, and no key of a provider is there.',
    'Store a key (reeve secret set ANTHROPIC_API_KEY), name a model (--model provider/model), or try --model scripted/demo, which needs no key.',
  )
}

async function offerToKeep(
  context: Context,
  name: keyof typeof BY_KEY,
  model: string | undefined,
): Promise<void> {
  const { around, daemon, home, print } = context
  const [provider] = BY_KEY[name].split('/')
  if (model !== undefined && !model.startsWith(`${provider}/`)) return
  const value = around.env[name] ?? ''
  if (!around.stdin.isTTY || print.isJson) {
    print.aside(`${name} of this shell is not known to the daemon: reeve secret set ${name} keeps it.`)
    return
  }
  const isYes = await askYes(
    around,
    `Keep ${name} of this shell as a secret of Reeve, for this agent and later ones?`,
  )
  if (isYes) await (await daemon.secrets(home)).set(name, value)
}
