// Shell lines that make a CA and certificates of the relay inside a machine: what an operator does with those of a public CA.

export const HOST = 'relay.example.com'
export const SITE: string = `demo.${HOST}`
export const CA = '/root/ca.pem'
const STATE = '/var/lib/svc'

/** Names of the relay and the site lead to the machine itself. */
export const NAMES: string = `echo '127.0.0.1 ${HOST} ${SITE}' >> /etc/hosts`

const KEY = 'ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'

export const MAKE_CA: string = `openssl req -x509 -newkey ${KEY} -days 30 -subj '/CN=proof CA' -keyout /root/ca-key.pem -out ${CA}`

/** Puts a new certificate where the relay reads it, with the rights that it needs. @param serial tells it from others */
export function newCertificate(serial: number): string {
  return `
    cd /root
    printf 'subjectAltName=DNS:${HOST},DNS:*.${HOST}' > names
    openssl req -newkey ${KEY} -subj '/CN=${HOST}' -keyout key.pem -out request.pem
    openssl x509 -req -in request.pem -CA ${CA} -CAkey ca-key.pem -days 20 -set_serial ${serial} -extfile names -out leaf.pem
    cat leaf.pem ${CA} > chain.pem
    install -o svc -g svc -m 600 key.pem ${STATE}/privatekey.pem
    install -o svc -g svc -m 644 chain.pem ${STATE}/fullchain.pem`
}

/** Prints the serial number of the certificate that visitors of the root host get. */
export const SERVED_SERIAL: string = `openssl s_client -connect ${HOST}:443 -servername ${HOST} < /dev/null 2> /dev/null | openssl x509 -noout -serial`

export const curl = (url: string): string =>
  `curl --silent --show-error --fail --max-time 20 --cacert ${CA} ${url}`
