/** Writes src/verbs/routes.ts, the part of the verbs that a client loads. A test compares the two. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { verbs } from '../src/verbs/reeve.ts'
import type { Verb, VerbCall } from '../src/verbs/verb.ts'

const FILE = 'src/verbs/routes.ts'

const HEAD = `// Written by \`node scripts/write-routes.ts\` from the verbs; do not edit.
import type { VerbName } from './reeve.ts'
import type { VerbCall } from './verb.ts'

/** The method, path and properties of each verb, for clients that load no schemas. */
export const routes: { readonly [Name in VerbName]: VerbCall } =`

export function routesOfVerbs(): Record<string, VerbCall> {
  return Object.fromEntries(Object.entries(verbs).map(([name, verb]) => [name, callOf(verb)]))
}

function callOf({ route, repeat, interrupted }: Verb): VerbCall {
  return { route, repeat, ...(interrupted === undefined ? {} : { interrupted }) }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(FILE, `${HEAD} ${JSON.stringify(routesOfVerbs())}\n`)
  execFileSync('npx', ['biome', 'check', '--write', FILE], { stdio: 'inherit' })
}
