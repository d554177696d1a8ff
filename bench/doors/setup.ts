import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import type { Built } from '../durable/build.ts'

/** What the measurements of a run share. */
export interface Setup {
  readonly built: Built
  readonly folder: string
}

export function freshFolder({ folder }: Setup, name: string): string {
  return mkdtempSync(join(folder, `${name}-`))
}
