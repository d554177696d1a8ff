import type { Liens } from '../../../core/lien/lien.ts'
import type { Link } from '../link.ts'
import { type Versioned, versionedBodies } from './bodies.ts'

export function lienStatements(link: Link, at: string) {
  return {
    read: (hosts: readonly string[]): Promise<Versioned<Liens>[]> =>
      versionedBodies<Liens>(link, `select version, body from ${at}lien where host = any ($1)`, [hosts]),
  }
}
