import { cli } from './cli/cli.ts'
import { daemonControl } from './daemon/control.ts'

const { stdout, stderr, env } = process

// A reader that closes the pipe needs no more output. A command in the foreground installs a listener of its own.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  if (stdout.listenerCount('error') === 1) process.exit(128 + 13)
})

process.exitCode = await cli(process.argv.slice(2), {
  // A getter, because reading `process.stdin` opens the terminal: most subcommands leave it alone.
  get stdin() {
    return process.stdin
  },
  stdout,
  stderr,
  env,
  cwd: here(),
  daemon: daemonControl,
})

/** The working folder. A deleted one is an error only for a subcommand that runs something there. */
function here(): string {
  try {
    return process.cwd()
  } catch {
    return env['PWD'] ?? '/'
  }
}
