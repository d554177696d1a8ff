type Variables = Readonly<Record<string, string | undefined>>

/** The PATH that `login` gives a user before any start-up file runs. The login shell extends it for commands. */
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The user, the locale and the desktop session: the same for every client of one user. */
const USER_VARIABLES = [
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'SSH_AUTH_SOCK',
  'DBUS_SESSION_BUS_ADDRESS',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
]
/** Variables for Node itself: certificates for TLS connections to a store or a collector, and its compile cache. */
const NODE_VARIABLES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_COMPILE_CACHE']
/** `REEVE_…` and `OTEL_…` are settings. */
const PREFIXES = ['LC_', 'XDG_', 'REEVE_', 'OTEL_']
/** These identify a client, or the command in which it runs. */
const CLIENT_VARIABLES = ['REEVE_PARENT', 'REEVE_PROCESS', 'REEVE_SESSION', 'REEVE_TOKEN', 'REEVE_URL']

/**
 * The environment of a daemon that a client starts in the background. It does not depend on the client: the daemon serves all
 * clients, and its environment is the base of all commands.
 */
export function daemonEnvironment(client: Variables): Record<string, string> {
  const isPostgres = client['REEVE_STORE']?.startsWith('postgres') === true
  const prefixes = isPostgres ? [...PREFIXES, 'PG'] : PREFIXES
  const isKept = (name: string) =>
    !CLIENT_VARIABLES.includes(name) &&
    (USER_VARIABLES.includes(name) ||
      NODE_VARIABLES.includes(name) ||
      prefixes.some((prefix) => name.startsWith(prefix)))
  const kept = Object.entries(client).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isKept(entry[0]),
  )
  return { ...Object.fromEntries(kept), PATH: SYSTEM_PATH }
}
