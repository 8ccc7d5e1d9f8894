// The texts of the landing page in German.
import type { SiteState } from '@svc/sdk-browser'
import type { Kind } from '../landing/demos/demo.ts'
import type { Translation } from './translation.ts'

const ABOUT: Readonly<Record<SiteState, string>> = {
  connecting: '',
  waiting: 'Noch kann niemand die Seite öffnen.',
  online: 'Online, solange dieser Tab offen ist.',
  reconnecting: 'Gerade kann niemand die Seite öffnen.',
  closed: '',
}
const USE: Readonly<Record<Kind, string>> = {
  note: 'Zum Öffnen auf dem Telefon oder zum Verschicken.',
  folder: 'Zum Öffnen auf dem Telefon oder zum Verschicken.',
  webhook: 'Die Adresse gehört zu dem Dienst, der die Webhooks schickt.',
  chat: 'Zum Verschicken an alle, die mitreden sollen.',
  tools: 'Die Adresse gehört zu einem Assistenten, wie unten gezeigt.',
}
const ONLY_HERE = 'Das Relay läuft auf localhost: Nur dieser Rechner kann die Adresse öffnen.'

const attempt = (seconds: number): string =>
  seconds > 0 ? `Nächster Versuch in ${seconds} s.` : 'Neuer Versuch …'

export const TRANSLATION: Translation = {
  COMMON: {
    name: 'svc',
    sites: 'Seiten',
    relays: 'Relays',
    examples: 'Beispiele',
    documentation: 'Doku',
    admin: 'Verwaltung',
    authority: 'Diesem Relay vertrauen',
    navigation: 'Seiten des Relays',
    skip: 'Zum Inhalt springen',
    copy: 'Kopieren',
    copied: 'Kopiert',
    copyRefused: 'Nicht erlaubt',
    show: 'Anzeigen',
    showSecret: (label) => `Anzeigen: ${label}`,
    cancel: 'Abbrechen',
    sure: 'Wirklich?',
    yes: 'Ja',
    close: 'Schließen',
    loading: 'Lädt …',
    notLoaded: 'Das konnte nicht geladen werden. Neu laden, um es noch einmal zu versuchen.',
    noAnswer: 'Das Relay antwortet nicht.',
    unreachable: 'Das Relay antwortet nicht. Die Angaben hier sind älter; der nächste Versuch läuft.',
  },

  FACTS: { no: 'nein' },

  WHO_SEES: {
    title: 'Wer was sehen kann',
    columns: ['Dieser Tab', 'Relay', 'Besucher'],
    rows: [
      { what: 'Namen, Adressen, Größen, Zeiten', facts: ['ja', 'ja', 'ja'] },
      { what: 'Anfragen und Antworten', facts: ['ja', 'nein', 'ja'] },
      { what: 'Schlüssel der Verbindung', facts: ['ja', 'nein', 'ja'] },
      { what: 'Dateien, die niemand abgerufen hat', facts: ['ja', 'nein', 'nein'] },
    ],
    note: 'Eine Ausnahme gibt es: Eine Seite kann ihr Relay bitten, Dateien zu speichern. Solange das Relay sie hat, kann es den Verkehr an der kanonischen Adresse dieser Seite lesen. Was auf dieser Seite veröffentlicht wird, bittet nicht darum.',
  },

  COMPARISON: {
    title: 'Im Vergleich mit anderen Tunneln',
    columns: ['svc', 'ngrok', 'Cloudflare Tunnel', 'Tailscale Funnel'],
    rows: [
      { what: 'Veröffentlicht aus einer Webseite', facts: ['ja', 'nein', 'nein', 'nein'] },
      { what: 'Geht ohne Konto', facts: ['ja', 'nein', 'ja, bei Quick Tunnels', 'nein'] },
      {
        what: 'Die Mitte kann HTTPS nicht lesen',
        facts: ['ja', 'nein; ja bei TLS-Endpunkten', 'nein', 'ja'],
      },
      { what: 'Der Server lässt sich selbst betreiben', facts: ['ja', 'nein', 'nein', 'nein'] },
      {
        what: 'TCP für jedes Programm',
        facts: ['ja', 'ja', 'nein: braucht dessen Programm', 'ja, über TLS'],
      },
      { what: 'Eine eigene Domain', facts: ['ja, mit eigenem Schlüssel', 'ja', 'ja', 'nein'] },
      { what: 'UDP', facts: ['ja', 'nein', 'nein', 'nein'] },
      {
        what: 'Ein öffentlicher Server, den andere betreiben',
        facts: ['nein, noch nicht', 'ja', 'ja', 'ja'],
      },
      { what: 'Server auf jedem Kontinent', facts: ['nein', 'ja', 'ja', 'ja'] },
      { what: 'Jahre im Betrieb', facts: ['nein, Version 0.1', 'ja', 'ja', 'ja'] },
    ],
    note: 'Nach der öffentlichen Dokumentation der Anbieter. Hinweise auf Veraltetes sind willkommen.',
  },

  WEBHOOK: { received: 'Empfangen' },

  NOTE: {
    visitor: (visit) =>
      `Besuch Nummer ${visit}. Diese Seite kommt direkt aus dem Browser-Tab eines anderen Menschen.`,
    notFound: 'Nicht gefunden',
    firstPage: 'Diese Site hat nur eine Seite, und die ist hier:',
    onlyGet: 'Nur GET und HEAD',
  },

  SITE_STATES: {
    connecting: 'verbindet',
    waiting: 'wartet',
    online: 'online',
    reconnecting: 'verbindet neu',
    closed: 'geschlossen',
  },

  WAITING: {
    approval: 'Der Betreiber des Relays muss diese Seite erst freigeben.',
    rate_limited: 'Das Relay hat diese Seite um eine Pause gebeten.',
    relay_full: 'Das Relay hat gerade keinen Platz.',
    certificate: 'Die Seite wartet auf ihr Zertifikat.',
    next: (time) => ` (nächster Versuch ${time})`,
  },

  LANDING: {
    title: 'Der Tab ist der Webserver',
    lead: 'Etwas schreiben und veröffentlichen: Es bekommt eine öffentliche HTTPS-Adresse, solange dieser Tab offen ist. Ohne Konto, ohne Installation, ohne offenen Port.',
    relayTitle: 'Das Relay',
    relaySees: 'Es verbindet Besucher mit diesem Tab. Mehr als das sieht es von einem Besuch nicht:',
    nothingYet: 'Noch keine Daten.',
    carried: (amount) => `${amount} bisher, alles verschlüsselt.`,
    visitors: {
      note: { title: 'Ein Besucher', sees: '' },
      folder: { title: 'Ein Besucher', sees: 'Die Dateien, bereit zum Herunterladen' },
      webhook: { title: 'Ein Dienst', sees: 'POST /' },
      chat: { title: 'Ein Besucher', sees: 'Ein Chat mit allen, die die Adresse haben' },
      tools: { title: 'Ein Assistent', sees: '„Frag mich etwas mit deinem Werkzeug ask.“' },
    },
    preview: 'Mit „Veröffentlichen“ bekommt das eine Adresse.',
    openIt: (kind, isForAll) =>
      kind === 'webhook' || kind === 'tools'
        ? 'Noch keine Anfrage.'
        : isForAll
          ? 'Den Code scannen oder die Adresse öffnen.'
          : 'Die Adresse in einem anderen Tab öffnen.',
    tabReads: 'Die letzte Anfrage, wie dieser Tab sie liest:',
    elsewhere: 'Andere Wege zu veröffentlichen',

    publishTitle: 'Dieser Tab',
    kindsLabel: 'Was veröffentlicht wird',
    kinds: {
      note: { name: 'Notiz', about: '' },
      folder: {
        name: 'Ordner',
        about: 'Besucher laden direkt aus diesem Tab. Nichts wird hochgeladen.',
      },
      webhook: {
        name: 'Webhooks',
        about: 'Zeigt jede Anfrage, die ein Dienst schickt, und wiederholt sie.',
      },
      chat: {
        name: 'Chat',
        about: 'Wer die Adresse öffnet, redet mit. Was gesagt wird, läuft nur durch diesen Tab.',
      },
      tools: {
        name: 'Werkzeuge',
        about:
          'Ein Werkzeugserver (MCP): Ein Assistent zeigt in diesem Tab einen Text oder stellt eine Frage und bekommt die Antwort.',
      },
    },
    note: 'Text oder HTML',
    firstNote: 'Hallo aus einem Browser-Tab',
    name: 'Name',
    nameByChance: 'zufällig',
    secretByChance: 'Ohne Namen kann niemand die Adresse erraten, und jeder Tab hat eine andere.',
    noName:
      'Ein Name hat 1 bis 22 Buchstaben, Ziffern und Bindestriche, am Anfang und am Ende keinen Bindestrich.',
    keepName: 'Namen behalten',
    keepNameAbout:
      'Dieser Browser behält den Schlüssel, dem der Name gehört: Beim nächsten Mal ist die Adresse dieselbe, und niemand sonst bekommt sie.',
    nameCanBeGuessed:
      'Wer den Namen errät, kann die Seite öffnen. Ohne Namen entsteht eine Adresse, die niemand erraten kann.',
    listed: 'In der Liste der Seiten zeigen',
    options: 'Optionen',
    password: 'Passwort für Besucher',
    passwordAbout: 'Leer: Besucher brauchen keines.',
    passwordRefused:
      'Das kann kein Passwort sein: Es hat die Form eines Hashwerts oder mehr als 1.024 Zeichen.',
    ends: 'Schließt',
    never: 'wenn dieser Tab schließt',
    after: (hours) => (hours === 1 ? 'nach 1 Stunde' : hours === 24 ? 'nach 1 Tag' : `nach ${hours} Stunden`),
    endsAt: (time) => `Schließt um ${time}.`,
    over: 'Die Seite ist geschlossen: Ihre Zeit ist um.',
    hasPassword: 'Besucher brauchen das Passwort.',
    invitation: 'Einladung',
    invitationAbout: 'Der Betreiber des Relays gibt sie aus. Dieser Browser braucht sie einmal.',
    asking: 'Bei jedem Besucher nachfragen',
    chatHost: 'Gastgeber',
    knocks: 'Wartende Besucher',
    noKnocks:
      'Niemand wartet. Jeder Besucher sieht eine Zahl mit vier Ziffern: Wer danach fragt, weiß, wer vor der Tür steht.',
    knock: (code) => `Besucher ${code} wartet`,
    unknownAddress: 'unbekannte Adresse',
    admit: 'Hereinlassen',
    admitAlways: 'Immer',
    refuse: 'Abweisen',
    refuseAlways: 'Nie',
    publish: 'Veröffentlichen',
    arrived: (name) => `${name} wurde mit dieser Seite geteilt. „Veröffentlichen“ gibt ihm einen Link.`,
    arrivedForFolder: (name) => `${name} wurde mit dieser Seite geteilt.`,
    arrivedForLater: (name) =>
      `${name} wurde mit dieser Seite geteilt. Wenn diese Seite beendet ist, lässt es sich veröffentlichen.`,
    notArrived: {
      nothing:
        'Was geteilt wurde, ist nicht angekommen: Vielleicht ist es größer als 256 MiB, oder die App wurde gerade erst installiert. Hier lässt es sich auswählen.',
      refused:
        'Was geteilt wurde, ist nicht angekommen: Die App war noch nicht bereit, und das Relay, zu dem es stattdessen ging, hat es ungelesen verworfen. Bitte noch einmal teilen oder hier auswählen.',
    },
    publishToo: 'Auch das veröffentlichen',
    aText: 'Ein Text',
    andMore: (name, count) => `${name} und ${count} weitere`,
    screen: 'Bildschirm anlassen',
    screenRefused: 'Das Gerät lässt den Bildschirm gerade nicht an, vielleicht um Strom zu sparen.',
    publishing: 'Wird veröffentlicht …',
    addressIsPublic:
      'Auf diesem Relay braucht jede Seite ein eigenes Zertifikat, und die Namen in Zertifikaten stehen in öffentlichen Protokollen: Wer sie liest, findet die Adresse. Noch einmal veröffentlichen, um es trotzdem zu tun.',
    errors: {
      invitation_required: 'Dieses Relay lässt ohne Einladung niemanden veröffentlichen.',
      relay_unreachable: 'Das Relay antwortet nicht. „Veröffentlichen“ versucht es noch einmal.',
      offline: 'Keine Verbindung zum Netz. Sobald sie zurück ist, noch einmal veröffentlichen.',
      hostname_conflict:
        'Diesen Namen hat schon jemand, vielleicht ein anderer eigener Browser. Bitte einen anderen wählen.',
      name_reserved: 'Diesen Namen behält sich das Relay vor. Bitte einen anderen wählen.',
      name_in_other_tab: 'Ein anderer Tab dieses Browsers benutzt den Namen. Bitte einen anderen wählen.',
      lease_replaced:
        'Eine andere Seite mit demselben Schlüssel hat diesen Namen übernommen. Neu veröffentlichen holt ihn zurück.',
      files_gone: 'Dieser Browser hat die Dateien nicht behalten. Bitte noch einmal auswählen.',
      visitor_failed:
        'Der Browser eines Besuchers ging, bevor er die Seite sah. Vielleicht vertraut er dem Zertifikat dieses Relays nicht.',
      handler_failed: 'Ein Besucher bekam statt einer Antwort einen Fehler.',
      identity_unavailable:
        'Dieser Browser bewahrt für diese Seite keine Schlüssel auf, vielleicht weil das Fenster privat ist. Ohne „Namen behalten“ (unter Optionen) geht es.',
      rate_limited: 'Zu viele Versuche. In einer Minute noch einmal veröffentlichen.',
      relay_full: 'Das Relay hat gerade keinen Platz. Bitte später noch einmal versuchen.',
      metadata_refused: 'Das Relay zeigt die Beschreibung dieser Seite nicht an.',
      name_had_other_owner:
        'Diesen Namen hatte vorher jemand anderes: Browser von damals haben vielleicht noch dessen Cookies und Seiten.',
      incompatible_relay: 'Diese Seite gehört zu einer anderen Version als das Relay. Neu laden hilft.',
      unsupported_platform: 'Dieser Browser ist zu alt, um zu veröffentlichen. Ein aktueller kann es.',
    },
    failed: (code) =>
      `Das hat nicht geklappt. „Veröffentlichen“ versucht es noch einmal.${code === undefined ? '' : ` (${code})`}`,
    stop: 'Beenden',
    nextAttempt: (time) => `um ${time}`,
    copyUrl: 'Adresse kopieren',
    copyShareUrl: 'Link zum Teilen kopieren',
    share:
      'Dieser Link geht auch, während der Tab geschlossen ist: Er wartet im Browser des Besuchers und öffnet die Seite, sobald sie zurück ist.',
    qr: (url) => `QR-Code von ${url}`,
    about: (state, kind, isForAll) =>
      state === 'online' ? `${ABOUT.online} ${isForAll ? USE[kind] : ONLY_HERE}` : ABOUT[state],
    offline: (seconds) => `Keine Verbindung zum Netz. ${attempt(seconds)}`,
    relayGone: (seconds) =>
      `Gerade kann niemand die Seite öffnen: Das Relay antwortet nicht. ${attempt(seconds)}`,
    keptRequests:
      'Dieser Tab behält die letzten 100 Anfragen, auch beim Neuladen, bis die Seite beendet oder der Tab geschlossen wird.',
    forget: 'Jetzt vergessen',
    visits: 'Besuche',
    noVisits: 'Noch niemand.',
    chooseFiles: 'Dateien auswählen',
    chooseFolder: 'Ordner auswählen',
    dropHere: 'Oder Dateien oder einen Ordner hierher ziehen.',
    noFiles: 'Zuerst eine Datei oder einen Ordner auswählen: Ein leerer Ordner wird nicht veröffentlicht.',
    notRead: 'Das ließ sich nicht lesen oder hat mehr als 20.000 Dateien. Stattdessen den Ordner auswählen.',
    clearFiles: 'Alle entfernen',
    fileCount: (count, names) => `${count === 1 ? '1 Datei' : `${count} Dateien`}: ${names}`,
    moreOf: {
      note: { text: 'Beispiel: eine Seite mit Handler' },
      folder: { text: 'Beispiel: ein Ordner, der jeden Download zeigt' },
      webhook: { text: 'Beispiel: Webhooks mit Antworten zur Wahl' },
      chat: { text: 'Beispiel: der Chat als eigene Seite' },
      tools: { text: 'Werkzeugserver in der Dokumentation' },
    },

    waysLabel: 'Von wo',
    ways: { page: 'Eine Seite', svc: 'svc', mcp: 'MCP' },
    toolAbout:
      'Eine Seite als Werkzeugserver: Assistenten rufen ihre Werkzeuge auf, die im Tab laufen. Die Zeile, die sie zeigt, trägt sie bei Claude Code ein.',
    copyTool: 'Code des Werkzeugservers kopieren',
    shellAbout: 'Ein Port dieses Rechners, mit dem Befehl svc:',
    copyCommand: 'Befehl kopieren',
    installTitle: 'svc installieren',
    installSh: 'Unter macOS und Linux, in einer Shell:',
    copyInstallSh: 'Zeile kopieren, die svc unter macOS und Linux installiert',
    installPs1: 'Unter Windows, in der PowerShell:',
    installPs1Trusted:
      'Unter Windows, in der PowerShell, wenn der Rechner der Zertifizierungsstelle dieses Relays vertraut:',
    copyInstallPs1: 'Zeile kopieren, die svc unter Windows installiert',
    noDownloads:
      'Dieses Relay bietet svc nicht zum Herunterladen an. In einem Checkout des Projekts startet es mit npx svc; npm run binaries baut die Downloads.',
    ownAuthority: (file) =>
      `Dieses Relay hat eine eigene Zertifizierungsstelle: ${file} ist der Pfad ihres Zertifikats.`,
    toAuthority: 'Herunterladen oder im Browser als vertrauenswürdig einrichten',

    codeAbout:
      'Ein Import bringt das SDK in jede Seite, ohne Build. Jeder Browser, der sie ausführt, bekommt eine eigene Adresse und behält sie:',
    copyCode: 'Code kopieren',
    pinTitle: 'Mit Prüfsummen: Nur diese Version des SDK läuft',
    pinAbout:
      'Die Import Map nennt jede Datei des SDK mit ihrer Prüfsumme, und der Browser weist Abweichungen zurück. Hat das Relay eine andere Version, lädt sein SDK erst wieder, wenn dieser Code neu kopiert ist.',
    pinnedCode: 'Der Code mit Prüfsummen',
    copyPinned: 'Code mit Prüfsummen kopieren',
    noPins:
      'Das Relay antwortet nicht, oder sein SDK ist nicht gebaut. Noch einmal öffnen, um es neu zu versuchen.',
    more: 'Zu den Beispielen',
    sites: 'Zu den veröffentlichten Seiten',
    runRelay: 'Ein eigenes Relay betreiben',
    runRelayAbout: 'Ein Programm auf einem Rechner mit öffentlicher Adresse und zwei DNS-Einträgen:',
    runRelayHow: 'So wird es installiert',
    languages: 'Sprachen',
  },

  TOOLS: {
    title: 'Werkzeugserver',
    connect:
      'Das gehört in die Einstellungen eines Assistenten, der MCP spricht. Seine Werkzeuge laufen dann in diesem Tab:',
    copy: 'Einstellungen kopieren',
    calls: 'Aufrufe',
    noCalls: 'Noch keine. Zum Assistenten: „Frag mich etwas mit deinem Werkzeug ask.“',
    answer: 'Antworten',
    answerTo: (question) => `Antwort auf: ${question}`,
    answered: (answer) => `Geantwortet: ${answer}`,
    over: 'Der Assistent wartet nicht mehr.',

    show: 'Zeigt dem Menschen, der diese Seite offen hat, einen Text.',
    showText: 'Der Text, ohne Auszeichnung.',
    shown: 'Der Mensch sieht ihn.',
    ask: 'Fragt den Menschen, der diese Seite offen hat, und gibt die Antwort zurück. Das dauert bis zu 50 Sekunden.',
    askQuestion: 'Die Frage, ohne Auszeichnung.',
    noAnswer: 'Der Mensch hat nicht rechtzeitig geantwortet.',
    tooMany: 'Der Mensch hat zuerst andere Fragen zu beantworten.',
    noText: (max) => `Es muss ein Text von 1 bis ${max} Zeichen sein.`,

    pageTitle: 'Ein Werkzeugserver in einem Browser-Tab',
    pageText:
      'Assistenten rufen seine Werkzeuge unter dieser Adresse auf, mit dem Model Context Protocol über HTTP.',
    pageFoot: 'Diese Seite kommt direkt aus dem Browser-Tab eines anderen Menschen.',
  },
}
