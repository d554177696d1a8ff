import { wordSet } from './word-set.ts'

/**
 * The vocabulary of names: which words make the name of a variable, a member, a header or an option that of a secret, and
 * which words around them say that it is something else. All of it is data, in lower case.
 */

/** The value is a password, and may be any text: `hunter2`, `correct horse`. */
export const PASSWORD_WORDS = wordSet(
  'password passwd passphrase passcode passwort contrasena userpassword psk pwd passw',
)

/** Shorter forms, which are words of their own in many texts: `DB_PASS`, `rootpw`. They need another word before them. */
export const SHORT_PASSWORD_WORDS = wordSet('pass pw')

/** Parts of names that are written without a separator: `dbpass`, `requirepass`, `rootpw`. */
export const PASS_QUALIFIERS = wordSet(
  'db require master store key keystore truststore trust user root admin smtp mail imap ftp ssh ssl login my mysql pg redis ' +
    'api proxy bind sudo become enable privileged service svc remote network net wp host app http ldap rabbit mongo client server auth sql old new svn wifi vnc zip enc ' +
    'default database postgres postgresql mariadb mssql oracle elastic kafka rabbitmq neo4j minio nexus jenkins registry initial',
)

/** Words before `key` that make it a secret: `api_key`, `signing-key`. */
export const KEY_QUALIFIERS = wordSet(
  'api access secret private priv encryption encrypt decryption signing sign auth authentication authorization master license ' +
    'licence ssh app account storage shared sharedaccess subscription consumer hmac aes rsa jwt webhook admin deploy ' +
    'session cookie service serviceaccount crypt crypto cipher symmetric integration ingest ingestion write wireguard wg tls ' +
    'ssl pgp gpg root bearer preshared recovery functions function x host machine sdk server secretaccess vault instrumentation ' +
    'verification personal upload publish',
)

/** Words before `key` that make it something else: a key of a table, a key to press, a public half. */
export const OTHER_KEYS = wordSet(
  'sort primary foreign partition public pub cache object row range index group join unique composite candidate lookup map dict ' +
    'hot shortcut arrow enter escape esc tab shift ctrl alt meta num search order event message routing issue project ' +
    'translation locale label config registry bucket s3 surrogate natural idempotency replay dedupe socket deduplication websocket ' +
    'column sub parent child any no press modifier up down left right home end delete del backspace space return command cmd ' +
    'option prefix leader property prop attribute attr field header param query metadata tag annotation redis item record entry ' +
    'state store context react list data hash json yaml env variable feature flag setting settings i18n text title name value ' +
    'first last next previous current old new same other invalid unknown missing duplicate required optional valid wrong bad ' +
    'expected the a this that each every one per multi two by for in on of with to and or is no use has is not site measurement ' +
    'publishable anon api_version tracking react memo stable react lock mutex semaphore error code status ranking rank pivot ' +
    'shard distribution dist clustering cluster secondary global local resource topic kafka stream document doc mapping',
)

/** Words before `pat` that make it a personal access token, and no pattern. */
export const PAT_QUALIFIERS = wordSet(
  'gh github gitlab gl ado azure azdo devops git bitbucket ci cr ghcr vsce docker npm databricks snowflake airtable user personal ' +
    'access token deploy release bot',
)

/** Words before `token` that make it a cursor, a word of a grammar, or a number of them. */
export const OTHER_TOKENS = wordSet(
  'next page continuation pagination cursor sync resume unexpected illegal bad expected current previous last first start end ' +
    'eof comment operator punctuation keyword max min total num per cancellation cancel abort lookahead stop pad bos eos unk sep ' +
    'cls mask special added new invalid missing identifier string number whitespace newline syntax design color css semantic ' +
    'theme the a this that each every any one by prev parse lexer ast jsx html markdown template opening closing input output ' +
    'prompt completion change concurrency idempotency client_request request fencing fence interface non',
)

/** Words before `password` or `secret` that say whether there is one, or how it is shown: `show_password`. */
export const FLAGS = wordSet(
  'no has is use uses show hide require requires required allow allows enable enabled disable disabled with without forgot ' +
    'forgotten reset change changed invalid incorrect wrong bad missing empty confirm validate check verify prompt ask needs ' +
    'should can remember save toggle min max public',
)

/** Behind such a word the name is still that of the secret: `PASSWORD_2`, `secret_key_base`, `token_value`. */
export const NEUTRAL_ENDINGS = wordSet(
  'value values raw plain plaintext hash base base64 b64 hex data prod dev test live old new default primary secondary main backup ' +
    'local str pem',
)

/** Behind such a word it is something about the secret: where it lies, how long it lives, how it is called. */
export const OTHER_ENDINGS = wordSet(
  'name names path paths file files filename dir directory folder url uri urls id ids type types count counts length len size limit ' +
    'limits ttl lifetime duration expiry expires expire expiration expired in at age policy policies rotation version algorithm alg algo format ' +
    'prefix suffix header headers field fields param params parameter label hint prompt placeholder enabled disabled required ' +
    'valid invalid validity ref refs reference arn usage used max min budget total index class mode state status provider issuer ' +
    'endpoint host port scope scopes manager store service env var variable variables location fingerprint regex regexp re pattern selector ' +
    'input output element reset strength error errors message text title description help method function callback handler ' +
    'seconds secs ms minutes hours days date time timestamp created updated last year month kind source target user username ' +
    'email sock socket agent cmd command program exec helper cost rate price window timeout interval retries retry level rules ' +
    'rule check validation validator generator factory bits rounds iterations map list set array per second minute hour of for to ' +
    'is from with and or not count options option config settings setting attempts attempt',
)

/** Variables with a URL that may have a password in it, by their names in lower case. */
export const URL_NAMES = wordSet(
  'database_url db_url redis_url mongo_url mongo_uri mongodb_uri mongodb_url postgres_url postgresql_url pg_url mysql_url amqp_url ' +
    'rabbitmq_url broker_url celery_broker_url elasticsearch_url clickhouse_url cloudamqp_url rediscloud_url jdbc_url ' +
    'database_uri db_uri sqlalchemy_database_uri',
)

/** Values that are no secret under any name, and words that describe one. */
export const PLAIN_VALUES = wordSet(
  'true false null none nil undefined yes no on off value values string str number integer int bool boolean object array any unknown ' +
    'never void buffer bytes text required optional default empty missing invalid valid expired include same-origin omit enabled ' +
    'disabled hidden redacted masked removed filtered unset set auto automatic basic bearer digest password passwd pwd token tokens ' +
    'secret secrets key keys apikey api_key api-key credential credentials username user email admin-password test example sample ' +
    'placeholder dummy fake mock foo bar baz todo tbd n/a changeme change-me change_me replaceme replace-me replace_me ' +
    'secret-key secretkey access-token private-key prompt input select submit checkbox radio label wrong incorrect correct ok error ' +
    'failed success passed denied granted not cannot must should will is are was the a an this that if when for from with and or in ' +
    'of by to it you your my our me here there see same either both only also then than file path name type id url env environment ' +
    'see-below varchar char json yaml xml html base64 hex uuid sha256 md5 plain plaintext clear encrypted hashed ask never always ' +
    'static dynamic public private protected readonly local global root inherit external managed self system request response ' +
    'authorization authentication auth login signin signup session cookie header query body param params read write',
)

/** Words of labels and explanations: a text that has one is no passphrase. */
export const SENTENCE_WORDS = wordSet(
  'the your my our is are was be must should can cannot will please enter confirm forgot reset change password passwords token ' +
    'tokens secret secrets key keys characters invalid incorrect required optional wrong here use used using you we has have does do ' +
    'least match matches too short weak strong field value values name user username email account login string null undefined ' +
    'default set sets get returns return api access not',
)
