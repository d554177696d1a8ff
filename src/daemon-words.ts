import { accessSync, constants, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DaemonWords, SettingSpec, UpFlags } from './cli/daemon-words.ts'
import { homePaths, type RunningDaemon } from './client/home.ts'
import { ReeveError } from './core/errors.ts'

/** Beside src in a clone, and beside dist in the package. */
const LAUNCHER = fileURLToPath(new URL('../bin/reeve.mjs', import.meta.url))

/** The daemon's code for the command line, each part loaded when it is asked for. */
export const daemonWords: DaemonWords = {
  version,
  calledAs,
  async up(home, flags, ready) {
    const [{ run }, { runningDaemon }] = await Promise.all([
      import('./daemon/run.ts'),
      import('./daemon/home.ts'),
    ])
    const announced = () => ready(runningDaemon(homePaths(home)) as RunningDaemon)
    return run({ home, flags, onReady: announced })
  },
  async start(home, flags) {
    const [{ detach }, settings] = await Promise.all([import('./daemon/detach.ts'), specsFor(flags)])
    return detach({ home, program: LAUNCHER, args: ['--quiet', ...argumentsFor(flags, settings)] })
  },
  async running(home) {
    const { readyDaemon } = await import('./daemon/running.ts')
    return readyDaemon(homePaths(home))
  },
  async down(home, { keep }) {
    const { down } = await import('./daemon/down.ts')
    try {
      return await down({ home, keep })
    } catch (error) {
      if (error instanceof ReeveError && error.code === 'daemon_not_running') return null
      throw error
    }
  },
  async settings() {
    const { settings } = await import('./daemon/settings.ts')
    return settings.map(({ name, flag, isSwitch, description }) => ({
      key: name,
      option: flag.slice(2),
      isSwitch,
      about: description,
    }))
  },
  async configuration(home, flags) {
    const { configuration } = await import('./daemon/config.ts')
    const { values, sources } = configuration(flags, process.env, homePaths(home))
    return Object.entries(values).map(([key, value]) => ({
      key,
      value,
      from: sources[key as keyof typeof sources],
    }))
  },
  async tokens(home) {
    const [{ TokenFile }, { prepareHome }] = await Promise.all([
      import('./daemon/token-file.ts'),
      import('./daemon/home.ts'),
    ])
    const paths = homePaths(home)
    prepareHome(paths)
    const file = new TokenFile(paths)
    return {
      create: async (asked) => {
        const { token, kept } = file.create(asked as Parameters<typeof file.create>[0])
        return { token, id: kept.id }
      },
      list: async () => file.all().map(({ hash: _, ...token }) => token),
      revoke: async (id) => file.revoke(id),
    }
  },
  async *checks(home) {
    const { checks } = await import('./daemon/checks.ts')
    yield* checks(homePaths(home))
  },
  async mcp(reeve, quiet) {
    const { serveMcpStdio } = await import('./mcp/stdio.ts')
    await serveMcpStdio(reeve, { quiet }).closed
    return 0
  },
  async demo() {
    const { demo } = await import('./demo/demo.ts')
    return demo()
  },
}

/** The package's own file lies one folder above, in a clone (src) as in the package (dist). */
function version(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return String(version)
}

function calledAs(): string {
  const isInPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    .some((folder) => isExecutable(join(folder, 'reeve')))
  return isInPath ? 'reeve' : LAUNCHER
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

async function specsFor(flags: UpFlags): Promise<readonly SettingSpec[]> {
  return Object.keys(flags).length === 0 ? [] : daemonWords.settings()
}

/** The same flags for the daemon's own command line. */
function argumentsFor(flags: UpFlags, settings: readonly SettingSpec[]): string[] {
  return settings.flatMap(({ key, option }) => {
    const value = flags[key]
    if (value === undefined || value === false) return []
    return value === true ? [`--${option}`] : [`--${option}=${value}`]
  })
}
