import type { Request } from './intent.ts'
import { schedules } from './schedules.ts'
import { triggers } from './triggers.ts'

export const definitions: readonly Request[] = [...schedules, ...triggers]
