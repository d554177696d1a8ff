import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vitest/config'
import { ClosingSummary } from './test/reporting/closing-summary.ts'
import { SlowFilesFirst } from './test/reporting/slow-files-first.ts'

// Tests start hundreds of keepers, daemons and clients from the sources: each compiles only what none did before.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url))

// Every answer of every verb is parsed by the verb's schema, in each test and in the daemons that tests start.
process.env['REEVE_CHECK_ANSWERS'] = '1'

// `import 'reeve'` in a test means the sources, as it does for tsc and for `node --conditions=reeve-source`.
// The others are the defaults, which a list of one's own replaces.
const conditions = ['reeve-source', 'module', 'node', 'development|production']
const sources = { resolve: { conditions }, ssr: { resolve: { conditions } }, plugins: [builtPrograms()] }

// A busy machine must not fail a test: all timeouts serve to end what hangs. The default here is 1 s.
const poll = { timeout: 60_000 }

const inProcesses = { pool: 'forks', testTimeout: 300_000, hookTimeout: 300_000, expect: { poll } } as const

/** Attacks on authority: one that succeeds now and then is a defect, and not retried. */
const PROOFS = ['test/authority/**/*.proc.ts']

/** What the sources start as a program of its own is the built one. */
function builtPrograms(): Plugin {
  const sources = fileURLToPath(new URL('src/', import.meta.url))
  const replacement = fileURLToPath(new URL('test/built-own-files.ts', import.meta.url))
  return {
    name: 'built-programs',
    enforce: 'pre',
    resolveId: (source, importer) =>
      source.endsWith('/package/own-files.ts') && importer?.startsWith(sources) ? replacement : undefined,
  }
}

export default defineConfig({
  test: {
    // More than there are cores: tests of processes mostly wait.
    maxWorkers: 4,
    globalSetup: ['test/postgres-server.ts', 'test/built-reeve.ts'].map((file) =>
      fileURLToPath(new URL(file, import.meta.url)),
    ),
    sequence: { sequencer: SlowFilesFirst },
    reporters: ['default', new ClosingSummary()],
    projects: [
      {
        ...sources,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          pool: 'threads',
          // A file imports most of Reeve: loading it once for each worker saves a tenth of a run. Tests undo their changes.
          isolate: false,
          restoreMocks: true,
          unstubEnvs: true,
          testTimeout: 180_000,
          hookTimeout: 180_000,
          expect: { poll },
        },
      },
      {
        ...sources,
        test: {
          ...inProcesses,
          name: 'proc',
          include: ['test/**/*.proc.ts'],
          exclude: PROOFS,
          // Other OS processes decide how these tests go. The closing summary names each that was retried.
          retry: 1,
        },
      },
      {
        ...sources,
        test: {
          ...inProcesses,
          name: 'proof',
          include: PROOFS,
        },
      },
    ],
  },
})
