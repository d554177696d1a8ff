import { ReeveError } from '../../core/errors.ts'
import { defaultModel, KEY_NAMES, type KeyName, MODEL_BY_KEY } from '../../verbs/default-model.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import { askYes } from '../ask-yes.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../usage-error.ts'

/**
 * The model that an agent gets: the one that is named, that of REEVE_MODEL, or that of the provider whose key is there. A key of the shell
 * that the daemon does not have is offered to be kept as a secret: the daemon runs on when the shell is gone.
 */
export async function chooseModel(
  context: Context,
  reeve: Pick<ReeveVerbs, 'status'>,
  given: string | undefined,
): Promise<string> {
  const { around, daemon, home, url } = context
  const named = given ?? (around.env['REEVE_MODEL'] || undefined)
  const inShell = KEY_NAMES.filter((name) => (around.env[name] ?? '') !== '')
  // The secrets of a daemon with an address are on its own machine.
  const kept = url === undefined ? (await (await daemon.secrets(home)).list()).map(({ name }) => name) : []
  const wanted = inShell.filter((name) => !kept.includes(name) && isFor(name, named))
  const known = wanted.length === 0 || url !== undefined ? [] : await keysOf(reeve)
  const declined: KeyName[] = []
  if (url === undefined)
    for (const name of wanted.filter((one) => !known.includes(one)))
      if (!(await offerToKeep(context, name))) declined.push(name)
  const hasKey = (name: KeyName) => !declined.includes(name) && [...kept, ...inShell].includes(name)
  const [first] = declined
  const model = named ?? defaultModel(undefined, hasKey)
  if (first !== undefined && (named !== undefined || model === undefined)) throw keyNotKept(first)
  if (model !== undefined) return model
  throw new UsageError(
    'No model is named, and no key of a provider is there.',
    'Store a key (reeve secret set ANTHROPIC_API_KEY), name a model (--model provider/model), or try --model scripted/demo, which needs no key.',
  )
}

function isFor(name: KeyName, model: string | undefined): boolean {
  const [provider] = MODEL_BY_KEY[name].split('/')
  return model === undefined || model.startsWith(`${provider}/`)
}

/** A daemon of an older version does not say which keys it has. */
async function keysOf(reeve: Pick<ReeveVerbs, 'status'>): Promise<readonly string[]> {
  const { models }: { readonly models?: { readonly keys: readonly string[] } } = await reeve.status({})
  return models?.keys ?? []
}

/** False: the person has declined. Without a terminal no question is asked. */
async function offerToKeep({ around, daemon, home, print }: Context, name: KeyName): Promise<boolean> {
  if (!around.stdin.isTTY || print.isJson) {
    print.aside(`${name} of this shell is not known to the daemon: reeve secret set ${name} keeps it.`)
    return true
  }
  const isYes = await askYes(
    around,
    `Keep ${name} of this shell as a secret of Reeve, for this agent and later ones?`,
  )
  if (isYes) await (await daemon.secrets(home)).set(name, around.env[name] ?? '')
  return isYes
}

function keyNotKept(name: KeyName): ReeveError {
  return new ReeveError(
    'invalid_request',
    `The daemon does not have ${name}, so no agent was started.`,
    `Keep it (reeve secret set ${name}), start the daemon in a shell that has it (reeve down, then reeve up), or try --model scripted/demo, which needs no key.`,
  )
}
