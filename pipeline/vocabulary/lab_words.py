"""Words in names of folders and files, by what they say and by language, in lower case without accents.

A word that ends with ``*`` stands for all that begin so. A word of several languages is listed once. Compounds of such
words, like ``piedsnus`` or ``dubbeltaak``, need no line of their own. A language is added by a line in each table.
"""

STATIC = """
stat stati* staty* statu* cal cals calib* kalib* neutral* anatom* reference ref referenz npose tpose apose pose
st estati* stand stands standing standbild standingref steh stehen stehend debout calage bipedestacion bipedo
parado ortostase ortostatic* stazione eretta postura staan staand sta stae staende staaende stojac* stanie
postawa ayakta durus 静止 静止立位 立位 立位静止
"""
WALK = """
walk walks walked walking walkway wlk gait gaits run runs running dyn dynam* motion trial trials lauf laufen
gang gaenge ganganalyse gangbild geh gehen geht gehversuch gehversuche versuch versuche march marche marches
marcher essai essais pas cammin* passo passi andar caminar caminata caminatas caminhada marcha paso loop loopt
lopen gaan ga gange gangen chod chodzenie chodu yurume yuruyus prova prove 歩行 自由歩行
"""
FUNCTIONAL = """
func functional star stararc arc score sara axis hjc kjc ajc lhjc rhjc lkjc rkjc hip knee ankle jc
"""
CONTRACTION = "mvc mvcs mvic mvics"
OTHER = """
squat squats jump jumps cmj sj hop hops hopping zero zeros empty emptyplates noise sts chair lunge lunges
balance sway kniebeuge kniebeugen sprung spruenge sentadilla sentadillas salto saut sauts sprong przysiad skok
"""
CONDITION = """
slow slower slowly fast faster quick brisk comf* normal normale normaal normalny pref* self selected free
barefoot bare bf shod shoe shoes boot boots brace braced orth* ortes* ortos* ortez* ortotic* afo afos dafo dafos
kafo kafos smo insole level insoles prosthe* prothe* protes* proteza aid aids cane canes crutch crutches walker
rollator frame treadmill overground stairs stair up down ramp incline decline jog* turn turns curve curved
straight single dual task load loaded left right on off flat uneven barfuss barfuessig schuh schuhe schuhen
langsam schnell gerade geradeaus kurve wende einlage einlagen laufband links rechts frei schiene stock einzel
doppel aufgabe gehhilfe pied pieds nu nus pn chausse chausses chaussure chaussures lent lente lents lentes
rapide vite droit droite gauche virage tapis spontane spontanee confort simple double tache tour demi attelle
releveur canne deambulateur scalz* piedi nudi scarpe calzat* lento lenta veloce rapido rapida dritto curva
tutore ortesi spontanea compito singolo doppio bastone deambulatore descalz* zapato zapatos calzado recto recta
giro ferula libre tarea doble baston andador descalco calcado sapatos tenis reto reta tala devagar confortavel
duplatarefa tarefa simples bengala blootsvoets blote voeten schoen schoenen langzaam snel rechtdoor bocht draai
enkel dubbel taak evo spalk comfortabel stok barfot barfota barbeint sko skor skinne skena sakte sakta langsom
langsamt fort rask snabb* selvvalgt sjalvvald enkelt dobbel oppgave uppgift stokk kapp rakt svang boso nagostopa
bosa buty butach orteza aparat wolno wolny szybko szybki swobodny pojedyncze podwojne kula balkonik ciplak yalin
ayak ciplakayak yalinayak ayakkabi ortez atel yavas hizli rahat tekgorev ciftgorev
裸足 靴 装具 短下肢装具 遅い 低速 速い 高速 通常 快適 単一課題 二重課題 杖
"""
WITH = "with without no mit ohne avec sans con senza sin com sem met zonder med utan uten z bez w"
# a word of order, and its place among the visits of a person
ORDER = {
    -1: """
pre prae pra preop* praeop* praop* preoperativ* before baseline bl initial admission intake start entry vor
vorher vorop vormessung erstuntersuchung voruntersuchung aufnahme avant prima antes ingreso voor voormeting fore
foer for innan przed once oncesi ennen elotte elott 術前 前 介入前 訓練前 初回
""",
    1: """
post postop* posop pos postoperativ* after nach nachher nachop nachmessung nachuntersuchung apres dopo despues
depois na nameting efter etter po sonra sonrasi jalkeen utana retest 術後 後 介入後 訓練後
""",
    2: "discharge dismissal entlassung sortie dimissione alta ontslag utskrivning 退院",
    3: "followup follow final fu last abschluss suivi controllo seguimiento 最終",
}
# words of a visit that take a number, which gives the order: visit 2, T1
NUMBERED = """
visit visits session sessions ses timepoint time assessment measurement measure test day followup fu follow new
besuch termin sitzung tag messung untersuchung kontrolle visite visites seance seances jour bilan mesure
controle visita visite seduta sessione giorno misura sesion medida consulta sessao bezoek sessie dag meting
besok besoek matning maling wizyta badanie pomiar ziyaret olcum seans 測定 来院 回
"""
NEW = "new"  # of a visit before a word for one: New Session
SHORT_ORDER = "bl"  # a short word of order that may have the number of a trial behind it; others make a code
SHORT_NUMBERED = "t v tp d"  # T1: letters that take a number without anything between
ORDINAL = {
    1: "first erste erster erstes premier premiere primera primeira eerste forsta forste",
    2: "second zweite zweiter zweites deuxieme seconde seconda segunda tweede andra andre",
    3: "third dritte dritter drittes troisieme terza tercera terceira derde tredje",
}
# spans of time with a number, in days
SPAN = {
    1: "day days tag tage jours giorni dias dagen dagar gun",
    7: """
week weeks w wk wks wo woche wochen semaine semaines settimana settimane semana semanas weken uke uker vecka
veckor tydzien tygodni tygodnie hafta vk 週
""",
    30: """
month months mo mos mth monat monate monaten mois mese mesi mes meses maand maanden mnd maned maneder man manad
manader miesiac miesiace miesiecy ay aylik 月
""",
    365: "year years yr yrs jahr jahre an ans anno anni ano anos jaar ar rok lata yil 年",
}
MONTH_LETTER = "m"  # 6M or M06, where other names have a word of order
FURTHER = """
op ops operation surgery treatment therapy training intervention therapie eingriff der die das dem the of
chirurgie ameliyat zabieg zabiegu operasjon operation operacja
"""  # words that belong to those of a visit: post OP
PLACE = """
c3d trc mocap marker markers force forces grf kinetics data daten dati datos dados donnees gegevens raw roh
rohdaten original processed export exported exports file files vicon nexus qualisys qtm opensim opencap
opencapdata recording recordings aufnahme aufnahmen capture captures equipment pole stick inputdata markerdata
examples subjects participants persons people probanden teilnehmer sujets sujetos soggetti deelnemers
"""
GROUP = """
controls control kontrollen kontrolle patients patienten pazienti pacientes healthy gesund gesunde sain sains
sani sanos adult adults children kinder enfants bambini young old elderly men women male males female females
group gruppe groupe gruppo grupo groep site centre center
"""
PERSON = """
sub subj subject subjects participant person patient pat pt id child proband kind vp pb pp fp sujet sujeto
sujeito soggetto paziente paciente pasient deelnemer deltagare deltaker patiente proefpersoon voluntario
voluntaria barn case fall cas caso p ctl pacjent badany hasta katilimci volunteer volontaire testperson 被験者 患者
"""
COPY = "copy copie kopie kopia kopi copia kopya コピー"
PHRASES = {  # written in several words
    r"follow[-_ ]up": "followup",
    r"\b([tan])[-_ ]pose": r"\1pose",
    r"(?-i:SCoRE)": "Score",
    r"sit[-_ ]?to[-_ ]?stand": "Sts",
    r"[-_ ]*\(\d+\)$": " copy",
}
MONTHS = (
    "jan january januar janvier janeiro januari gennaio gen enero ene",
    "feb february februar febbraio febrero februari fev fevrier fevereiro",
    "mar march mars marz maerz marzo marco maart mrt",
    "apr april aprile avril avr abril abr",
    "may mai mag maggio mayo maio mei maj",
    "jun june juni juin giugno giu junio junho",
    "jul july juli juillet juil luglio lug julio julho",
    "aug august augusti augustus aout agosto ago",
    "sep sept september septembre settembre septiembre set setembro",
    "oct okt october oktober octobre octubre ottobre ott outubro out",
    "nov november novembre noviembre novembro",
    "dec dez december dezember decembre dicembre dic diciembre dezembro",
)
