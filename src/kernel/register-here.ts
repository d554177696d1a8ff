import { RefusedError } from '../core/errors.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { Placement } from '../core/placement/placement.ts'
import type { Kind } from '../core/process/record.ts'
import { isRefusal } from '../core/refusal.ts'
import type { Edges } from './edges.ts'
import type { Executions } from './executions.ts'
import type { ResolveAction } from './host-looks.ts'
import { type Registered, type Registering, register } from './register.ts'

export interface RegisterHereOptions {
  readonly executions: readonly Executions[]
  /** Where this kernel is. */
  readonly here: readonly Placement[]
  readonly defaultEnvRef: string
  readonly resolve: ResolveAction
}

/** Registers processes, and begins those that this kernel can begin at once in the same transaction. */
export async function registerHere(
  edges: Edges,
  registering: readonly Registering[],
  { executions, here, defaultEnvRef, resolve }: RegisterHereOptions,
): Promise<Registered[]> {
  const reserved = registering.map(({ request }) =>
    request.notBefore === undefined ? reserve(executions, request.kind, request.spec) : {},
  )
  try {
    const asked = registering.map((one, index) => ({ ...one, here, ...reserved[index]?.start }))
    const registered = await register(edges, asked, defaultEnvRef, resolve)
    if (isRefusal(registered)) throw new RefusedError(registered)
    for (const [index, one] of registered.entries())
      if (one.type === 'registered' && one.row.holder !== null) reserved[index]?.slot?.begin(one.row)
    return registered
  } catch (error) {
    for (const { slot } of reserved) slot?.doubt(error)
    throw error
  } finally {
    for (const { slot, start } of reserved) slot?.free(start?.startBy)
  }
}

/** A reserved slot, and the options that it adds to the registration. */
interface Reservation {
  readonly slot?: Executions
  readonly start?: Pick<Registering, 'startBy' | 'whileAnnounced' | 'refuseNew'>
}

/** A full keeper refuses; any other process may wait in the queue. */
function reserve(all: readonly Executions[], kind: Kind, spec: JsonObject): Reservation {
  for (const executions of all) {
    const answer = executions.reserve(kind, spec)
    if (answer === 'reserved')
      return { slot: executions, start: { startBy: executions.holder, whileAnnounced: true } }
    if (answer === 'full' && executions.keeping !== undefined)
      return { start: { refuseNew: executions.keeping.full } }
  }
  return {}
}
