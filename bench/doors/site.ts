import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import type { Built } from '../durable/build.ts'

/** Where a measurement takes place. */
export interface Site {
  readonly built: Built
  readonly folder: string
}

export function freshFolder({ folder }: Site, name: string): string {
  return mkdtempSync(join(folder, `${name}-`))
}
