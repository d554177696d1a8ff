import type { Link, Value } from '../link.ts'

/** A thing that is stored whole, as JSON in the column `body`, with the version that a commit compares. */
export interface Versioned<Thing> {
  readonly version: number
  readonly value: Thing
}

/** The statement selects `version` and `body`. */
export async function versionedBodies<Thing>(
  link: Link,
  text: string,
  values: readonly Value[],
): Promise<Versioned<Thing>[]> {
  const found = await link.query<{ version: number; body: string }>(text, values)
  return found.map(({ version, body }) => ({ version, value: JSON.parse(body) as Thing }))
}

/** The statement selects `body`. */
export async function bodies<Thing>(link: Link, text: string, values: readonly Value[]): Promise<Thing[]> {
  const found = await link.query<{ body: string }>(text, values)
  return found.map(({ body }) => JSON.parse(body) as Thing)
}
