import type { Commands } from '../command/commands.ts'
import type { PassedBy } from '../command/environment/registration-file.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { registrationText } from '../core/process/registration-request.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { pidGiven, type Registering } from '../kernel/register.ts'
import type { Inherited } from '../verbs/shapes/inherited.ts'

/** The part of a request that is not registered. */
export interface Passing {
  readonly secrets?: Readonly<Record<string, string>>
  readonly inherited?: Inherited
}

interface Request {
  readonly registering: Registering
  readonly passing: Passing | undefined
}

/** Registers all requests. Their secrets are saved before a command can start, and deleted if no request was registered. */
export async function registerPassing(
  kernel: Kernel,
  commands: Pick<Commands, 'passed' | 'inherited'>,
  requests: readonly Request[],
): ReturnType<Kernel['register']> {
  const { passed } = commands
  const all = await Promise.all(
    requests.map(async ({ registering, passing }) =>
      passing === undefined ? { registering } : withPid(kernel, registering, passing),
    ),
  )
  const passedBy = all.flatMap((one) => ('passedBy' in one ? [one.passedBy] : []))
  return passed.inTurn(passedBy, async () => {
    const unused = new Map<number, () => Promise<void>>()
    try {
      for (const [index, one] of all.entries()) {
        if (!('passedBy' in one) || (await isRegistered(kernel, one.passedBy))) continue
        const { passedBy: by, passing } = one
        const { secrets, inherited } = passing
        const hasKept = secrets !== undefined && (await passed.retain(by, secrets))
        unused.set(index, async () => {
          if (hasKept) await passed.drop(by)
          if (inherited !== undefined) await commands.inherited.drop(by)
        })
        if (inherited !== undefined) await commands.inherited.retain(by, inherited)
      }
      const registered = await kernel.register(all.map((one) => one.registering))
      for (const [index, { type }] of registered.entries()) if (type === 'registered') unused.delete(index)
      return registered
    } finally {
      for (const drop of unused.values()) await drop()
    }
  })
}

/** The file name contains the pid, so the pid is chosen before the registration. */
async function withPid(
  kernel: Kernel,
  registering: Registering,
  passing: Passing,
): Promise<{
  readonly registering: Registering
  readonly passedBy: PassedBy & Pick<ProcessRecord, 'spec'>
  readonly passing: Passing
}> {
  const { edges } = kernel
  const given = await pidGiven(edges, registering)
  const pid = given ?? edges.newPid()
  const { request, actor: originator } = registering
  const registrationHash = edges.hash(registrationText(request))
  return {
    registering: given === undefined ? { ...registering, pid } : registering,
    passedBy: { pid, originator, registrationHash, spec: request.spec },
    passing,
  }
}

async function isRegistered({ edges }: Kernel, { pid }: PassedBy): Promise<boolean> {
  return (await edges.store.ask({ ask: 'process', pid })) !== null
}
