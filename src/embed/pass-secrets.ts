import type { PassedBy, PassedSecrets } from '../command/environment/passed.ts'
import { registrationText } from '../core/process/register.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { pidGiven, type Registering } from '../kernel/register.ts'

interface Request {
  readonly registering: Registering
  readonly secrets: Readonly<Record<string, string>> | undefined
}

/** Registers all requests. Their secrets are on disk before a command can begin, and gone where none was registered. */
export async function registerPassing(
  kernel: Kernel,
  passed: PassedSecrets,
  requests: readonly Request[],
): ReturnType<Kernel['register']> {
  const all = await Promise.all(
    requests.map(async ({ registering, secrets }) =>
      secrets === undefined ? { registering } : passing(kernel, registering, secrets),
    ),
  )
  const passedBy = all.flatMap((one) => ('passedBy' in one ? [one.passedBy] : []))
  return passed.inTurn(passedBy, async () => {
    const unused = new Map<number, PassedBy>()
    try {
      for (const [index, one] of all.entries()) {
        if (!('passedBy' in one) || (await isRegistered(kernel, one.passedBy))) continue
        if (await passed.keep(one.passedBy, one.secrets)) unused.set(index, one.passedBy)
      }
      const registered = await kernel.register(all.map((one) => one.registering))
      for (const [index, { type }] of registered.entries()) if (type === 'registered') unused.delete(index)
      return registered
    } finally {
      for (const one of unused.values()) await passed.drop(one)
    }
  })
}

/** The pid is part of the name of the file, so that it is decided before the registration. */
async function passing(
  kernel: Kernel,
  registering: Registering,
  secrets: Readonly<Record<string, string>>,
): Promise<{
  readonly registering: Registering
  readonly passedBy: PassedBy
  readonly secrets: typeof secrets
}> {
  const { edges } = kernel
  const given = await pidGiven(edges, registering)
  const pid = given ?? edges.newPid()
  const registrationHash = edges.hash(registrationText(registering.request))
  return {
    registering: given === undefined ? { ...registering, pid } : registering,
    passedBy: { pid, originator: registering.actor, registrationHash },
    secrets,
  }
}

async function isRegistered({ edges }: Kernel, { pid }: PassedBy): Promise<boolean> {
  return (await edges.store.ask({ ask: 'process', pid })) !== null
}
