import { cli } from './cli/cli.ts'
import { daemonControl } from './daemon-words.ts'

const { stdout, stderr, env } = process

// Whoever stops reading has what they wanted. A foreground command hears of it, and listens for itself.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  if (stdout.listenerCount('error') === 1) process.exit(128 + 13)
})

process.exitCode = await cli(process.argv.slice(2), {
  // Opened when it is first read: a terminal that nobody reads from is left alone.
  get stdin() {
    return process.stdin
  },
  stdout,
  stderr,
  env,
  cwd: here(),
  daemon: daemonControl,
})

/** A folder that was deleted under us is no reason to fail, unless something is to run there. */
function here(): string {
  try {
    return process.cwd()
  } catch {
    return env['PWD'] ?? '/'
  }
}
