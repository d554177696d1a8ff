import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import type { Packaged } from './packaged.ts'

/** Where a measurement takes place. */
export interface Site {
  readonly built: Packaged
  readonly folder: string
}

export function freshFolder({ folder }: Site, name: string): string {
  return mkdtempSync(join(folder, `${name}-`))
}
