-- MySQL dump 10.13  Distrib 8.0.32
/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
SET FOREIGN_KEY_CHECKS = 0;
DROP TABLE IF EXISTS `customers`;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `customers` (
  `id` int unsigned NOT NULL AUTO_INCREMENT COMMENT 'Key',
  `email` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci NOT NULL,
  `status` enum('open','closed') NOT NULL DEFAULT 'open',
  `flags` set('a','b') DEFAULT NULL,
  `is_active` tinyint(1) NOT NULL DEFAULT '1',
  `amount` decimal(10,2) unsigned DEFAULT '0.00',
  `notes` mediumtext,
  `data` json DEFAULT NULL,
  `y` year(4) DEFAULT NULL,
  `created_at` timestamp NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  `updated_at` datetime(6) DEFAULT NULL,
  `photo` longblob,
  `full_name` varchar(100) GENERATED ALWAYS AS (concat(`email`,'x')) VIRTUAL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uk_email` (`email`),
  KEY `ix_status` (`status`,`created_at`),
  FULLTEXT KEY `ft` (`notes`),
  CONSTRAINT `fk_x` FOREIGN KEY (`id`) REFERENCES `accounts` (`id`) ON DELETE CASCADE ON UPDATE CASCADE
) ENGINE=InnoDB AUTO_INCREMENT=42 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci COMMENT='Customers';
LOCK TABLES `customers` WRITE;
INSERT INTO `customers` VALUES (1,'a@b','open',NULL,1,'0.00',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
UNLOCK TABLES;
DELIMITER ;;
CREATE TRIGGER t BEFORE INSERT ON customers FOR EACH ROW BEGIN SET NEW.email = 'x'; END ;;
DELIMITER ;
CREATE TABLE accounts (id INT UNSIGNED PRIMARY KEY, name VARCHAR(50) NOT NULL, INDEX (name)) ENGINE=MyISAM;
