import { allowances } from './allowances.ts'
import { external } from './external.ts'
import { holders } from './holders.ts'
import { inboxes } from './inbox.ts'
import type { Request } from './intent.ts'
import { messages } from './messages.ts'
import { registrations } from './register.ts'
import { scopes } from './scopes.ts'
import { signals } from './signals.ts'
import { upkeep } from './upkeep.ts'
import { watching } from './watching.ts'
import { writes } from './writes.ts'

export const requests: readonly Request[] = [
  ...registrations,
  ...signals,
  ...messages,
  ...writes,
  ...scopes,
  ...watching,
  ...inboxes,
  ...allowances,
  ...upkeep,
  ...holders,
  ...external,
]
